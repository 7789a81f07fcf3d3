/**
 * The receipts of submissions whose id the client chose: what makes a repeated submission harmless (R11). Pure, in
 * bounded memory.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"

/** What became of a submission. `none` had no effect that events could show. */
type Disposition = "started" | "joined" | "waiting" | "none"

export interface Receipt {
  readonly id: SubmissionId
  readonly disposition: Disposition
}

interface Kept {
  /** What the client chose; the receipt of input that joined a turn carries that turn's id. */
  readonly chosen: SubmissionId
  readonly receipt: Receipt
}

export interface Receipts {
  /** Of chosen ids, oldest first. */
  readonly kept: ReadonlyArray<Kept>
  /** The next automatic submission id (§1.6: counts from 0 per conversation). */
  readonly nextId: number
}

/** A client repeats what it has not heard of, which is recent; each receipt is some tens of bytes. */
export const maxReceipts = 1024

export const none: Receipts = { kept: [], nextId: 0 }

/** The receipt of an earlier submission with that id. */
export const receiptOf = (receipts: Receipts, chosen: SubmissionId): Receipt | undefined =>
  receipts.kept.find((kept) => kept.chosen === chosen)?.receipt

/** The number an automatic id would have to be to read like this; -1 for a text that none ever is. */
const asAutomatic = (id: SubmissionId): number => (/^(0|[1-9]\d*)$/.test(id) ? Number(id) : -1)

/** True for an id that the conversation gave out itself, or that a forgotten submission had. */
export const isSpent = (receipts: Receipts, chosen: SubmissionId): boolean => {
  const number = asAutomatic(chosen)
  return number !== -1 && number < receipts.nextId
}

/** The next automatic id; it never repeats one that a client chose. */
export const nextAutomatic = (
  receipts: Receipts,
): { readonly id: SubmissionId; readonly receipts: Receipts } => {
  let next = receipts.nextId
  while (receiptOf(receipts, String(next)) !== undefined) next++
  return { id: String(next), receipts: { ...receipts, nextId: next + 1 } }
}

/** Beyond it counting one by one gets nowhere. */
const farthest = Number.MAX_SAFE_INTEGER / 2

/** The id occurs in the log, whoever gave it: no later submission gets it. */
export const spend = (receipts: Receipts, id: SubmissionId): Receipts => {
  const number = asAutomatic(id)
  return number === -1 || number >= farthest
    ? keep(receipts, id, { id, disposition: "started" })
    : { ...receipts, nextId: Math.max(receipts.nextId, number + 1) }
}

/** Keeps a receipt; the oldest is forgotten, and its id stays spent if an automatic one could repeat it. */
export const keep = (receipts: Receipts, chosen: SubmissionId, receipt: Receipt): Receipts => {
  const kept = [...receipts.kept, { chosen, receipt }]
  if (kept.length <= maxReceipts) return { ...receipts, kept }
  const forgotten = asAutomatic(kept.shift()?.chosen ?? "")
  const nextId = forgotten < farthest ? Math.max(receipts.nextId, forgotten + 1) : receipts.nextId
  return { kept, nextId }
}
