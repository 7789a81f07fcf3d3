/**
 * The recordings of the original (0.29) as this package compares them: the events of a conversation, turn by turn, without
 * what differs from run to run. Directories read `/workspace`, call ids `call-1`, `call-2` by first appearance.
 */
import * as Fs from "node:fs"
import { fileURLToPath } from "node:url"

type Json = Readonly<Record<string, unknown>>

/** Events that version 0.29 of the original does not send, or sends differently: token counts and text deltas. */
const notCompared = new Set([
  "session_configured",
  "raw_response_item",
  "user_message",
  "approval_resolved",
  "token_count",
  "agent_message_delta",
  "tool_call_begin",
  "tool_call_end",
])

const bytesOf = (chunk: unknown): ReadonlyArray<number> =>
  typeof chunk === "string"
    ? [...Buffer.from(chunk, "base64")]
    : Array.isArray(chunk)
      ? chunk.filter((byte) => typeof byte === "number")
      : []

/** Joins the output deltas of one call into one. */
const joined = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const printed = new Map<unknown, Array<number>>()
  return messages
    .filter(({ call_id, chunk, type }) => {
      if (type !== "exec_command_output_delta") return true
      const before = printed.get(call_id)
      before?.push(...bytesOf(chunk))
      if (before === undefined) printed.set(call_id, [...bytesOf(chunk)])
      return before === undefined
    })
    .map((message) => {
      const { call_id, stream, type } = message
      if (type !== "exec_command_output_delta") return message
      return { type, call_id, stream, text: Buffer.from(printed.get(call_id) ?? []).toString() }
    })
}

/** Removes the distinction of standard error, which 0.29 makes: a command has one pipe for both, as from 0.153.4 on. */
const ofOnePipe = (message: Json): Json => {
  const { aggregated_output, message: words, type } = message
  switch (type) {
    case "exec_command_output_delta":
      return { ...message, stream: "stdout" }
    case "exec_command_end":
      return { ...message, stdout: aggregated_output, stderr: "" }
    case "background_event": {
      const [, before, text] = /^(.*, stdout: ), stderr: (.*)$/s.exec(String(words)) ?? []
      return before === undefined ? message : { ...message, message: `${before}${text}, stderr: ` }
    }
    default:
      return message
  }
}

/** The diff of a turn is removed when it was sent before. */
const fresh = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  let diff: unknown
  return messages.filter((message) => {
    if (message["type"] !== "turn_diff") return true
    const isNew = message["unified_diff"] !== diff
    diff = message["unified_diff"]
    return isNew
  })
}

/** The original sends `parsed_cmd` with the question only from 0.77 on; Colloquy always does. */
const withoutParsedQuestion = (message: Json): Json => {
  if (message["type"] !== "exec_approval_request") return message
  const { parsed_cmd: _, ...rest } = message
  return rest
}

/** The reason that the question quotes, which is all that the original sends of it; undefined when there is none. */
const quotedReason = (reason: string): string | undefined =>
  reason.startsWith("If approved, ")
    ? /^(?:It is asked because|The model gives this reason): "(.*)"$/m.exec(reason)?.[1]
    : reason

/** The compared form of a conversation's messages. `cwd` is the working directory of the conversation. */
export const comparable = (
  messages: ReadonlyArray<unknown>,
  cwd: string,
): ReadonlyArray<unknown> => {
  const ids = new Map<string, string>()
  const compared = (messages as ReadonlyArray<Json>).filter(
    ({ type }) => !notCompared.has(String(type)),
  )
  return joined(fresh(compared.map(withoutParsedQuestion))).map((message): unknown => {
    const text = JSON.stringify(message, (key, value: unknown) => {
      if (key === "duration") return "some time"
      if (key === "reason" && typeof value === "string") return quotedReason(value)
      if (key === "call_id" && typeof value === "string") {
        if (!ids.has(value)) ids.set(value, `call-${ids.size + 1}`)
        return ids.get(value)
      }
      return value
    })
    return JSON.parse(
      text.replaceAll(cwd, "/workspace").replaceAll(/\/tmp\/[^"]*?\/ws(?=\\n)/g, "/workspace"),
    )
  })
}

/** The messages of a recording, in order. */
export const recorded = (name: string): ReadonlyArray<unknown> => {
  const path = fileURLToPath(new URL(`../fixtures/v0.29.0/${name}.jsonl`, import.meta.url))
  return Fs.readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.includes('"codex/event"'))
    .map((line) => (JSON.parse(line) as { msg: { params: { msg: Json } } }).msg.params.msg)
    .map(ofOnePipe)
}
