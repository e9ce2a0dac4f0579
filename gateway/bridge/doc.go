// Package bridge serves requests of any agent from a Claude subscription by running the
// genuine claude program. The program alone holds the subscription's token: the request is its
// prompt, the agent's own tools are shown to it as an MCP server on loopback, and what it
// writes is the reply, in the events of the Messages API.
//
// A call of a tool ends the agent's reply. The run then waits, and goes on when the agent
// brings the result; README.md tells how a run lives and how it is found again.
package bridge
