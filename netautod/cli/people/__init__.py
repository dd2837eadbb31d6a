"""Commands about users and organizations."""
