/** The steps of a wire run's clients as frames. Pure. */
import type { Frame } from "@colloquy/protocol/Connection"
import { AddConversationListener } from "@colloquy/protocol/app/Messages"
import { Initialize, Cancelled, Ping, ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import type { WireStep } from "./WirePlan.ts"

type MessageStep = Exclude<WireStep, { readonly do: "pause" | "yield" }>

const request = (id: number, method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })

const call = (id: number, name: string, args: unknown) =>
  request(id, ToolsCall._tag, { name, arguments: args })

const garbage = ({ id, what }: Extract<MessageStep, { do: "garbage" }>): string => {
  switch (what) {
    case "noise":
      return '{"jsonrpc":'
    case "batch":
      return "[]"
    case "no method":
      return request(id, "no/such")
    case "bad params":
      return request(id, ToolsCall._tag, 7)
    case "no tool":
      return call(id, "codexx", {})
    case "bad arguments":
      return call(id, "codex", { prompt: 7 })
    default:
      return JSON.stringify({ jsonrpc: "2.0", id: 1_000 + id, result: {} })
  }
}

const textOf = (step: MessageStep, thread: string): string => {
  switch (step.do) {
    case "hello":
      return request(step.id, Initialize._tag, {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "simulated", version: "0" },
      })
    case "pulse":
      return request(step.id, Ping._tag)
    case "codex":
      return call(step.id, "codex", { prompt: step.text })
    case "reply":
      return call(step.id, "codex-reply", { threadId: thread, prompt: step.text })
    case "cancel":
      return JSON.stringify({
        jsonrpc: "2.0",
        method: Cancelled._tag,
        params: { requestId: step.id },
      })
    case "listen":
      return request(step.id, AddConversationListener._tag, {
        conversationId: thread,
        experimentalRawEvents: step.raw,
        ...(step.after === undefined ? {} : { after: step.after }),
      })
    case "garbage":
      return garbage(step)
  }
}

/**
 * The frame that a step sends.
 *
 * @param thread id of the conversation that a reply or a listener is for
 */
export const frameOf = (step: MessageStep, thread: string): Frame => {
  if (step.do === "garbage" && step.what === "not UTF-8") return { _tag: "NotUtf8", bytes: 3 }
  if (step.do === "garbage" && step.what === "too long") {
    return { _tag: "TooLong", bytes: 65, maxBytes: 64 }
  }
  return { _tag: "Text", text: textOf(step, thread) }
}
