"""The Engineering Agent: from a failing test to a validated patch (Maddila et al., "Agentic Program Repair …")."""
