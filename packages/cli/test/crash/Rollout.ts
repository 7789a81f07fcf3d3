/**
 * Reads rollout files as their format is documented (packages/docs/wire/rollout.md), independently of the store's
 * reader, so that damage from a crash shows in the file itself.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { typesOf } from "../../../store/test/support/OriginalRollouts.ts"
import { faultsOf, type Judged, type Msg, type StoredEvent } from "./Judged.ts"
import type { Logs } from "./Logs.ts"

/** Paths of the rollout files in a state directory, by the conversation id in the file name. */
const rolloutsOf = (home: string): ReadonlyMap<string, string> => {
  const sessions = join(home, "sessions")
  if (!existsSync(sessions)) return new Map()
  return new Map(
    readdirSync(sessions, { recursive: true, encoding: "utf8" }).flatMap((name) => {
      const id = /([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(name)?.[1]
      return id === undefined ? [] : [[id, join(sessions, name)] as const]
    }),
  )
}

/**
 * The events of a rollout. A line of codex's own types takes the number after the previous line's; `colloquy_mark` and
 * `colloquy_event` lines carry their number.
 */
const eventsOf = (text: string): ReadonlyArray<StoredEvent> => {
  let next = { seq: 0, id: "" }
  /** Turns that the process holding the file has stopped. */
  const stopped = new Set<string>()
  const events: Array<StoredEvent> = []
  const add = (at: { readonly seq: number; readonly id: string }, msg: Msg) => {
    const isStopped = msg.type === "turn_aborted" && stopped.has(at.id)
    events.push({ seq: at.seq, id: at.id, msg, isStopped })
    next = { seq: at.seq + 1, id: at.id }
  }
  for (const line of text.split("\n")) {
    if (line === "") continue
    const { payload, type } = JSON.parse(line)
    if (type === "colloquy_mark") {
      next = { seq: payload.seq, id: payload.id }
      if (payload.generation !== undefined) stopped.clear()
    } else if (type === "colloquy_stop") stopped.add(payload.turnId)
    else if (type === "colloquy_event") add(payload, payload.msg)
    else if (type === "event_msg") add(next, payload)
    else if (type === "response_item") add(next, { type: "raw_response_item", item: payload })
    else if (type === "compacted") add(next, { ...payload, type })
  }
  return events
}

/** Reads the rollout of a conversation that no process is running: its events and the violations found. */
export const judge = (path: string): Judged => judgeText(readFileSync(path, "utf8"))

const judgeText = (text: string): Judged => {
  try {
    typesOf(text)
    const events = eventsOf(text)
    return { events, faults: faultsOf(events) }
  } catch (error) {
    return { events: [], faults: [`a line of another shape: ${String(error).slice(0, 500)}`] }
  }
}

/** The rollout files of a state directory. */
export const rollouts = (home: string): Logs => ({
  ids: () => [...rolloutsOf(home).keys()],
  read: (ids) => {
    const paths = rolloutsOf(home)
    return new Map(
      [...ids].flatMap((id) => {
        const place = paths.get(id)
        if (place === undefined) return []
        const bytes = readFileSync(place)
        const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1)
        return [
          [id, { place, bytes, whole, judge: () => judgeText(bytes.toString("utf8")) }] as const,
        ]
      }),
    )
  },
})
