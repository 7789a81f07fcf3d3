/** The responses of the servers that only show what HTTP costs: no protocol, no session, no check, no tool. */

import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"

/** A response as a server writes it. */
interface FloorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const json = { "content-type": "application/json" }

/** The response to the body of a POST: the text of the call in the result of its tool. */
export const respondTo = (text: string): FloorResponse => {
  const message = JSON.parse(text) as {
    readonly id?: number
    readonly method: string
    readonly params?: { readonly arguments?: { readonly text?: string } }
  }
  const { id, method, params } = message
  if (id === undefined) return { status: 202, headers: {}, body: "" }
  if (method === Initialize._tag) {
    const headers = { ...json, "mcp-session-id": "a" }
    return { status: 200, headers, body: JSON.stringify({ jsonrpc: "2.0", id, result: {} }) }
  }
  const content = [{ type: "text", text: params?.arguments?.text }]
  return {
    status: 200,
    headers: json,
    body: JSON.stringify({ jsonrpc: "2.0", id, result: { content } }),
  }
}
