"""What every command needs: messages, options, plots, files that come with the package."""
