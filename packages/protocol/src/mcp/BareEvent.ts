/**
 * The second notification of each event in the oldest generation (0.20): the parameters of `codex/event` under the bare
 * type of the event (§1.8). One definition per type, made when it is first sent; no type is a method of the dialect.
 */
import { notification } from "../Method.ts"
import { CodexEvent } from "./CodexMcp.ts"

const define = (type: string) =>
  notification(type, {
    params: CodexEvent.payloadSchema,
    since: "0.20",
    until: "0.25",
    doc: "The same event once more, under its own name.",
  })

const known = new Map<string, ReturnType<typeof define>>()

export const bareEvent = (type: string) => {
  const found = known.get(type) ?? define(type)
  known.set(type, found)
  return found
}
