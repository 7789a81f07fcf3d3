/**
 * The receipts of submissions whose id the client chose. They make a repeated submission harmless: it gets the first
 * receipt again and nothing happens. Pure, in bounded memory.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"

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
   * By the id that the client chose; that of the receipt differs when the input joined a turn. Each submission looks for its
   * own here: to look through a list would take longer the more a conversation has had.
   */
  readonly kept: HashMap.HashMap<SubmissionId, Receipt>
  /** The chosen ids, oldest first. */
  readonly order: ReadonlyArray<SubmissionId>
  /** Number of the next automatic submission id; they count from 0 per conversation, as in the original program. */
  readonly nextId: number
}

/** Receipts as plain data: those of chosen ids, oldest first. */
export interface PlainReceipts {
  readonly kept: ReadonlyArray<readonly [chosen: SubmissionId, receipt: Receipt]>
  readonly nextId: number
}

/** Most receipts that are kept. A client repeats recent submissions only; each receipt is some tens of bytes. */
export const maxReceipts = 1024

/** No receipts. */
export const none: Receipts = { kept: HashMap.empty(), order: [], nextId: 0 }

/** The receipt of an earlier submission with that id. */
export const receiptOf = (receipts: Receipts, chosen: SubmissionId): Receipt | undefined =>
  Option.getOrUndefined(HashMap.get(receipts.kept, chosen))

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

/** Marks an id as used because it occurs in the log: no later submission gets it. */
export const spend = (receipts: Receipts, id: SubmissionId): Receipts => {
  const number = asAutomatic(id)
  return number === -1 || number >= farthest
    ? keep(receipts, id, { id, disposition: "started" })
    : { ...receipts, nextId: Math.max(receipts.nextId, number + 1) }
}

/**
 * Adds a receipt, or replaces that of the same id. Beyond the limit the oldest is dropped; its id stays used if an automatic id
 * could repeat it.
 */
export const keep = (receipts: Receipts, chosen: SubmissionId, receipt: Receipt): Receipts => {
  const { order: before } = receipts
  const isKnown = HashMap.has(receipts.kept, chosen)
  const order = [...(isKnown ? before.filter((id) => id !== chosen) : before), chosen]
  const kept = HashMap.set(receipts.kept, chosen, receipt)
  if (order.length <= maxReceipts) return { ...receipts, kept, order }
  const oldest = order.shift() ?? ""
  const forgotten = asAutomatic(oldest)
  const nextId = forgotten < farthest ? Math.max(receipts.nextId, forgotten + 1) : receipts.nextId
  return { kept: HashMap.remove(kept, oldest), order, nextId }
}

/** The receipts as plain data. */
export const toPlain = ({ kept, nextId, order }: Receipts): PlainReceipts => ({
  kept: order.flatMap((id) =>
    Option.match(HashMap.get(kept, id), { onNone: () => [], onSome: (one) => [[id, one]] }),
  ),
  nextId,
})

/** The receipts that `toPlain` gave. */
export const fromPlain = ({ kept, nextId }: PlainReceipts): Receipts => ({
  kept: HashMap.fromIterable(kept),
  order: kept.map(([id]) => id),
  nextId,
})
