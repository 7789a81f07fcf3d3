/** Compares the responses that a server owed with those it sent (L1): one per request, and no others. Pure. */
import * as Tree from "@colloquy/simulation/fuzz/JsonTree"
import { type IdKey, idOf, type Line, memberOf, noId, type Owed } from "./Expected.ts"
import type { Response } from "./Output.ts"

/** Up to this number of batches, every combination of accepted and refused batches is tried. */
const maxCombined = 6

type IsAccepted = (batch: number) => boolean

/** The possible sets of accepted batches. For many batches, only the ranges between two points: a revision with batches is agreed on and later replaced. */
const choices = function* (batches: number): Generator<IsAccepted> {
  if (batches <= maxCombined) {
    for (let bits = 0; bits < 1 << batches; bits++) yield (batch) => ((bits >> batch) & 1) === 1
    return
  }
  for (let from = 0; from <= batches; from++) {
    for (let to = from; to <= batches; to++) yield (batch) => batch >= from && batch < to
  }
}

/** Ids that a notification cancels; their requests may remain without a response. */
const cancelled = (lines: ReadonlyArray<Line>): ReadonlySet<IdKey> => {
  const ids = new Set<IdKey>()
  const look = (tree: Tree.JsonTree) => {
    const params = memberOf(tree, "params")
    if (params === undefined) return
    for (const name of ["requestId", "id"]) {
      const found = idOf(memberOf(params, name))
      if (found !== undefined) ids.add(found[0])
    }
  }
  for (const { text } of lines) {
    const tree = text === undefined ? undefined : Tree.parse(text)
    if (tree?.kind === "array") tree.items.forEach(look)
    else if (tree !== undefined) look(tree)
  }
  return ids
}

/** Everything that is owed when these batches were accepted. */
const flattened = (lines: ReadonlyArray<Line>, isAccepted: IsAccepted): ReadonlyArray<Owed> => {
  let batches = 0
  return lines.flatMap(({ owed }): ReadonlyArray<Owed> => {
    if (owed.kind !== "batch") return [owed]
    const { members } = owed
    // An empty batch is always refused; each request of a batch that is too long gets an error.
    return isAccepted(batches++) && members.length > 0 ? members : [{ kind: "response", id: noId }]
  })
}

const counted = (ids: Iterable<IdKey>): Map<IdKey, number> => {
  const counts = new Map<IdKey, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const shown = (id: IdKey): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id)

/** Describes the first difference between owed and sent responses; undefined when there is none. */
const imbalance = (
  owed: ReadonlyArray<Owed>,
  responses: ReadonlyArray<Response>,
  optional: ReadonlySet<IdKey>,
): string | undefined => {
  const left = counted(responses.map(({ id }) => id))
  const doubtful = owed.flatMap((one) => (one.kind === "either" ? [one.id] : []))
  const sure = counted(owed.flatMap((one) => (one.kind === "response" ? [one.id] : [])))
  for (const [id, requests] of sure) {
    const answered = Math.min(left.get(id) ?? 0, requests)
    if (answered < requests && !optional.has(id)) {
      return `request ${shown(id)}: sent ${requests} times, answered ${answered} times`
    }
    left.set(id, (left.get(id) ?? 0) - answered)
  }
  const unknown = owed.reduce((sum, one) => sum + (one.kind === "unknown" ? one.most : 0), 0)
  const open = new Set([noId, ...doubtful, ...(unknown > 0 ? ["*"] : [])])
  const isOpen = (id: IdKey) => open.has(id) || open.has("*")
  const more = [...left].filter(([, count]) => count > 0)
  const stranger = more.find(([id]) => !isOpen(id))
  if (stranger !== undefined) {
    return `response ${shown(stranger[0])}: ${stranger[1]} more than requests`
  }
  const rest = more.reduce((sum, [, count]) => sum + count, 0)
  const least = doubtful.filter((id) => !optional.has(id)).length
  return rest >= least && rest <= doubtful.length + unknown
    ? undefined
    : `${doubtful.length} messages that may lack a valid id got ${rest} responses`
}

/**
 * Describes the first fault in the responses to these lines; undefined when each request got exactly one response.
 *
 * @param silences whether a cancelled request may remain without a response
 */
export const imbalanceOf = (
  lines: ReadonlyArray<Line>,
  responses: ReadonlyArray<Response>,
  silences: boolean,
): string | undefined => {
  const optional = silences ? cancelled(lines) : new Set<IdKey>()
  const batches = lines.filter(({ owed }) => owed.kind === "batch").length
  let first: string | undefined
  for (const isAccepted of choices(batches)) {
    const problem = imbalance(flattened(lines, isAccepted), responses, optional)
    if (problem === undefined) return undefined
    first ??= problem
  }
  return first
}
