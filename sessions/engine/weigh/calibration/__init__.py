"""What messages and contexts weigh: fitted on the session, labelled by how it is known."""
