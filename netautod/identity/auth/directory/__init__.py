"""Users of directories looked up again while their sessions last."""
