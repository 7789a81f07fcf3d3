/**
 * The receipts of submissions whose id the client chose. They make a repeated submission harmless: it gets the first
 * receipt again and nothing happens, however many others came between. Pure. A receipt takes the memory of its id and
 * some tens of bytes; the events of a turn, which are in memory with it, take far more.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { empty, get, type GrowingMap, set } from "./GrowingMap.ts"

/** What became of a submission. `none`: it started, joined and queued no turn. */
type Disposition = "started" | "joined" | "waiting" | "none"

/** What `submit` returns for an accepted submission. */
export interface Receipt {
  /** Id of the events to follow: that of the submission, or of the turn that it joined. */
  readonly id: SubmissionId
  readonly disposition: Disposition
}

/** The receipts of a conversation, and its next automatic id. */
export interface Receipts {
  /**
   * By the id that the client chose: the disposition, where the id of the receipt is the chosen one; the receipt, where the
   * input joined a turn. Absent in a state that another process has sent.
   */
  readonly kept?: GrowingMap<Disposition | Receipt>
  /** Number of the next automatic submission id; they count from 0 per conversation, as in the original program. */
  readonly nextId: number
}

/** No receipts. */
export const none: Receipts = { kept: empty, nextId: 0 }

/** What is sent of receipts to another process: no ids, whose number grows as long as the conversation is used. */
export const withoutIds = ({ nextId }: Receipts): Receipts => ({ nextId })

/** The receipt of an earlier submission with that id. */
export const receiptOf = (
  { kept = empty }: Receipts,
  chosen: SubmissionId,
): Receipt | undefined => {
  const found = get(kept, chosen)
  return typeof found === "string" ? { id: chosen, disposition: found } : found
}

/** True unless it is certain that no earlier submission has that id. */
export const mayHave = (receipts: Receipts, chosen: SubmissionId): boolean =>
  receipts.kept === undefined || receiptOf(receipts, chosen) !== undefined

/** The number of an automatic id with this text; -1 for a text that no automatic id has. */
const asAutomatic = (id: SubmissionId): number => (/^(0|[1-9]\d*)$/.test(id) ? Number(id) : -1)

/** True for an automatic id that was used, or that may have been. One that a client chose has a receipt. */
export const isSpent = (receipts: Receipts, chosen: SubmissionId): boolean => {
  const number = asAutomatic(chosen)
  return number !== -1 && number < receipts.nextId
}

/** The first number from this one on that no client has chosen as an id. */
const unchosen = (receipts: Receipts, from: number): number => {
  let next = from
  while (receiptOf(receipts, String(next)) !== undefined) next++
  return next
}

/** The next automatic id, which no client has chosen, and the receipts after it. */
export const nextAutomatic = (
  receipts: Receipts,
): { readonly id: SubmissionId; readonly receipts: Receipts } => {
  const next = unchosen(receipts, receipts.nextId)
  return { id: String(next), receipts: { ...receipts, nextId: next + 1 } }
}

/** Larger numbers are not counted: adding one would not change them in the end. */
const farthest = Number.MAX_SAFE_INTEGER / 2

/** Marks an id as used because it occurs in the log: no later submission gets it. One that has a receipt keeps it. */
export const spend = (receipts: Receipts, id: SubmissionId): Receipts => {
  const number = asAutomatic(id)
  if (number !== -1 && number < farthest) {
    return { ...receipts, nextId: Math.max(receipts.nextId, number + 1) }
  }
  return receiptOf(receipts, id) === undefined
    ? keep(receipts, id, { id, disposition: "started" })
    : receipts
}

/** Adds a receipt, or replaces that of the same id. */
export const keep = (
  { kept = empty, nextId }: Receipts,
  chosen: SubmissionId,
  receipt: Receipt,
): Receipts => {
  const { disposition, id } = receipt
  const next = { kept: set(kept, chosen, id === chosen ? disposition : receipt), nextId }
  // A client that counts its ids: an automatic one does not have to look for the end of them each time.
  return asAutomatic(chosen) === nextId ? { ...next, nextId: unchosen(next, nextId) } : next
}
