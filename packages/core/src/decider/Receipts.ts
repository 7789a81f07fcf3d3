/**
 * The receipts of submissions whose id the client chose. They make a repeated submission harmless: it gets the first
 * receipt again and nothing happens. Pure, in bounded memory.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Hash from "effect/Hash"

/** What became of a submission. `none`: it started, joined and queued no turn. */
type Disposition = "started" | "joined" | "waiting" | "none"

/** What `submit` returns for an accepted submission. */
export interface Receipt {
  /** Id of the events to follow: that of the submission, or of the turn that it joined. */
  readonly id: SubmissionId
  readonly disposition: Disposition
}

interface Kept {
  /** The id that the client chose; `receipt.id` differs when the input joined a turn. */
  readonly chosen: SubmissionId
  readonly receipt: Receipt
}

/** The receipts of a conversation, and its next automatic id. */
export interface Receipts {
  /** Receipts of chosen ids, oldest first. */
  readonly kept: ReadonlyArray<Kept>
  /**
   * The hashes of the chosen ids, in the same order. Each submission looks for its id, and to compare it with a thousand
   * others that lie anywhere in memory would take a good part of the time of a turn.
   */
  readonly hashes: ReadonlyArray<number>
  /** Number of the next automatic submission id; they count from 0 per conversation, as in the original program. */
  readonly nextId: number
}

/** Most receipts that are kept. A client repeats recent submissions only; each receipt is some tens of bytes. */
export const maxReceipts = 1024

/** No receipts. */
export const none: Receipts = { kept: [], hashes: [], nextId: 0 }

const indexOf = ({ hashes, kept }: Receipts, chosen: SubmissionId): number => {
  const hash = Hash.string(chosen)
  let index = hashes.indexOf(hash)
  while (index !== -1 && kept[index]?.chosen !== chosen) index = hashes.indexOf(hash, index + 1)
  return index
}

/** The receipt of an earlier submission with that id. */
export const receiptOf = (receipts: Receipts, chosen: SubmissionId): Receipt | undefined =>
  receipts.kept[indexOf(receipts, chosen)]?.receipt

/** The number of an automatic id with this text; -1 for a text that no automatic id has. */
const asAutomatic = (id: SubmissionId): number => (/^(0|[1-9]\d*)$/.test(id) ? Number(id) : -1)

/** True for an automatic id that was used, or that a submission without a receipt any more may have had. */
export const isSpent = (receipts: Receipts, chosen: SubmissionId): boolean => {
  const number = asAutomatic(chosen)
  return number !== -1 && number < receipts.nextId
}

/** The next automatic id, which no client has chosen, and the receipts after it. */
export const nextAutomatic = (
  receipts: Receipts,
): { readonly id: SubmissionId; readonly receipts: Receipts } => {
  let next = receipts.nextId
  while (receiptOf(receipts, String(next)) !== undefined) next++
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
  return indexOf(receipts, id) === -1
    ? keep(receipts, id, { id, disposition: "started" })
    : receipts
}

const without = (receipts: Receipts, index: number): Receipts => ({
  ...receipts,
  kept: receipts.kept.toSpliced(index, 1),
  hashes: receipts.hashes.toSpliced(index, 1),
})

/** Drops the oldest receipt where there is no room; its id stays used if an automatic id could repeat it. */
const withRoom = (receipts: Receipts): Receipts => {
  const { kept, nextId } = receipts
  if (kept.length < maxReceipts) return receipts
  const forgotten = asAutomatic(kept[0]?.chosen ?? "")
  const next = forgotten < farthest ? Math.max(nextId, forgotten + 1) : nextId
  return { ...without(receipts, 0), nextId: next }
}

/** Adds a receipt as the newest, or in place of that of the same id. */
export const keep = (receipts: Receipts, chosen: SubmissionId, receipt: Receipt): Receipts => {
  const index = indexOf(receipts, chosen)
  const { hashes, kept, nextId } = index === -1 ? withRoom(receipts) : without(receipts, index)
  return {
    kept: [...kept, { chosen, receipt }],
    hashes: [...hashes, Hash.string(chosen)],
    nextId,
  }
}
