/** The messages that the benchmarks send and read, without the codecs, so that only the server is measured. */
import {
  Initialize,
  CodexEvent,
  Initialized,
  Ping,
  ToolsCall,
} from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { Codex, CodexReply } from "@colloquy/protocol/mcp/CodexTools"
import { notificationText, requestText } from "@colloquy/protocol/JsonRpc"

/** The request that starts a connection, with the id 0. */
export const initialize = requestText(0, Initialize._tag, {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "colloquy-bench", version: "0.0.0" },
})

/** `_meta` of a request in the stateless era. */
export const saidWithout = {
  [MetaKey.protocolVersion]: statelessVersions[0],
  [MetaKey.clientInfo]: { name: "colloquy-bench", version: "0.0.0" },
  [MetaKey.clientCapabilities]: {},
}

/** The notification that follows the response to `initialize`. */
export const initialized = notificationText(Initialized._tag, undefined)

/** A `tools/call` request. */
export const toolCall = (id: number, name: string, args: object, meta?: object): string =>
  requestText(id, ToolsCall._tag, {
    name,
    arguments: args,
    ...(meta === undefined ? {} : { _meta: meta }),
  })

/** A `ping` request. */
export const ping = (id: number): string => requestText(id, Ping._tag, {})

/** A call of the tool `codex`. */
export const codex = (id: number, prompt: string): string => toolCall(id, Codex.name, { prompt })

/** A call of the tool `codex-reply`. */
export const codexReply = (id: number, threadId: string, prompt: string): string =>
  toolCall(id, CodexReply.name, { threadId, prompt })

/** What a tool call sent and returned. */
export interface Reading {
  readonly threadId: string
  /** Final text of the turn. */
  readonly answer: string
  /** Number of `codex/event` notifications with a delta of the answer. */
  readonly deltaEvents: number
  /** Text of those deltas. */
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

/** Reads the lines up to the result of a tool. Throws when the result is an error, which cannot be measured. */
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
