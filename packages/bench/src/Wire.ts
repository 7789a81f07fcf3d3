/** The messages that the benchmarks send and read. They go past the codecs on purpose: only the server is measured. */
import {
  CodexEvent,
  Initialize,
  Initialized,
  Ping,
  ToolsCall,
} from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { Codex, CodexReply } from "@colloquy/protocol/mcp/CodexTools"
import { notificationText, requestText } from "@colloquy/protocol/JsonRpc"

export const initialize = requestText(0, Initialize._tag, {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "colloquy-bench", version: "0.0.0" },
})

/** `_meta` of a request without a handshake. */
export const saidWithout = {
  [MetaKey.protocolVersion]: statelessVersions[0],
  [MetaKey.clientInfo]: { name: "colloquy-bench", version: "0.0.0" },
  [MetaKey.clientCapabilities]: {},
}

export const initialized = notificationText(Initialized._tag, undefined)

export const toolCall = (id: number, name: string, args: object, meta?: object): string =>
  requestText(id, ToolsCall._tag, {
    name,
    arguments: args,
    ...(meta === undefined ? {} : { _meta: meta }),
  })

export const ping = (id: number): string => requestText(id, Ping._tag, {})

export const codex = (id: number, prompt: string): string => toolCall(id, Codex.name, { prompt })

export const codexReply = (id: number, threadId: string, prompt: string): string =>
  toolCall(id, CodexReply.name, { threadId, prompt })

/** What was read of one tool call. */
export interface Reading {
  readonly threadId: string
  /** The turn's answer. */
  readonly answer: string
  /** `codex/event` notifications with a delta of the answer. */
  readonly deltaEvents: number
  /** All that those deltas say. */
  readonly deltaText: string
  readonly bytes: number
}

interface Line {
  readonly method?: string
  readonly params?: { readonly msg: { readonly type: string; readonly delta?: string } }
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent: { readonly threadId: string; readonly content: string }
  }
}

/** Reads the lines up to a tool's answer. Throws when that is an error: there would be nothing to measure. */
export const read = (chunks: ReadonlyArray<Buffer>): Reading => {
  const bytes = Buffer.concat(chunks)
  const lines = bytes.toString("utf8").trimEnd().split("\n")
  const deltas: Array<string> = []
  let last: Line = {}
  for (const text of lines) {
    last = JSON.parse(text) as Line
    const msg = last.method === CodexEvent._tag ? last.params?.msg : undefined
    if (msg?.type === "agent_message_delta") deltas.push(msg.delta ?? "")
  }
  if (last.result === undefined || last.result.isError === true) {
    throw new Error(`the tool call failed: ${lines.at(-1)?.slice(0, 500)}`)
  }
  const { threadId, content } = last.result.structuredContent
  return {
    threadId,
    answer: content,
    deltaEvents: deltas.length,
    deltaText: deltas.join(""),
    bytes: bytes.length,
  }
}
