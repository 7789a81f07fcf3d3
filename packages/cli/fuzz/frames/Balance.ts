/** Compares what a server owed with what it responded (L1): each request exactly once, and nothing else. Pure. */
import * as Tree from "@colloquy/simulation/fuzz/JsonTree"
import { type IdKey, idOf, type Line, memberOf, noId, type Owed } from "./Expected.ts"
import type { Response } from "./Output.ts"

/** Up to so many batches every combination of taken and refused ones is tried. */
const maxCombined = 6

type Taken = (batch: number) => boolean

/** Which batches may have been taken: for many, those between two points, as a revision is agreed on and replaced. */
const choices = function* (batches: number): Generator<Taken> {
  if (batches <= maxCombined) {
    for (let bits = 0; bits < 1 << batches; bits++) yield (batch) => ((bits >> batch) & 1) === 1
    return
  }
  for (let from = 0; from <= batches; from++) {
    for (let to = from; to <= batches; to++) yield (batch) => batch >= from && batch < to
  }
}

/** Ids that a notification withdraws; their requests may stay without a response. */
const withdrawn = (lines: ReadonlyArray<Line>): ReadonlySet<IdKey> => {
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

/** Everything owed, where these batches were taken. */
const flattened = (lines: ReadonlyArray<Line>, isTaken: Taken): ReadonlyArray<Owed> => {
  let batches = 0
  return lines.flatMap(({ owed }): ReadonlyArray<Owed> => {
    if (owed.kind !== "batch") return [owed]
    const { members } = owed
    // An empty one is always refused; the requests of one that is too long are answered one by one, with an error.
    return isTaken(batches++) && members.length > 0 ? members : [{ kind: "response", id: noId }]
  })
}

const counted = (ids: Iterable<IdKey>): Map<IdKey, number> => {
  const counts = new Map<IdKey, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const shown = (id: IdKey): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id)

/** What is wrong where these are owed; undefined where all is well. */
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
 * What is wrong with the responses to these lines; undefined where each request got exactly one.
 *
 * @param silences whether a withdrawn request may stay without a response
 */
export const imbalanceOf = (
  lines: ReadonlyArray<Line>,
  responses: ReadonlyArray<Response>,
  silences: boolean,
): string | undefined => {
  const optional = silences ? withdrawn(lines) : new Set<IdKey>()
  const batches = lines.filter(({ owed }) => owed.kind === "batch").length
  let first: string | undefined
  for (const isTaken of choices(batches)) {
    const problem = imbalance(flattened(lines, isTaken), responses, optional)
    if (problem === undefined) return undefined
    first ??= problem
  }
  return first
}
