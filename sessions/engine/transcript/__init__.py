"""What a session is: messages, blocks, requests, recorded events."""
