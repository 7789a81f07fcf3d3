/**
 * The table of the differences between the revisions of the protocol. The definitions of the methods say which
 * revisions have them (`since`, `until`); all other differences are listed here.
 */
import { type Method, infoOf } from "@colloquy/protocol/Method"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import type { Era } from "../RequestContext.ts"

/** The rules of one revision that apply to every message. */
export interface Rules {
  readonly era: Era
  /** True: the server accepts an array of messages on one line, and responds with an array. */
  readonly batches: boolean
}

const handshake = (batches: boolean): Rules => ({ era: "handshake", batches })

/** The rules of each revision. */
export const rulesOf: Readonly<Record<Revision, Rules>> = {
  "2024-11-05": handshake(true),
  "2025-03-26": handshake(true),
  "2025-06-18": handshake(false),
  "2025-11-25": handshake(false),
  "2026-07-28": { era: "stateless", batches: false },
}

/** True if a revision has the method. Compares as text: revisions are dates in a form that sorts as text. */
export const knows = (revision: Revision, method: Method): boolean => {
  const { since, until } = infoOf(method)
  return since <= revision && (until === undefined || revision < until)
}
