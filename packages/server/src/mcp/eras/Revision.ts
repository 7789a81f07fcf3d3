/**
 * What differs between the revisions of the protocol, as a table. Which methods a revision knows is said by their
 * definitions (`since`, `until`); everything else is here.
 */
import { type Method, infoOf } from "@colloquy/protocol/Method"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import type { Era } from "../RequestContext.ts"

/** The rules of one revision that concern every message. */
export interface Rules {
  readonly era: Era
  /** Takes an array of messages on one line, and answers with one. */
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

/** Revisions are dates, and dates in this form sort as text. */
export const knows = (revision: Revision, method: Method): boolean => {
  const { since, until } = infoOf(method)
  return since <= revision && (until === undefined || revision < until)
}
