/** Makes a failing input shorter while it still fails: lines, ranges of bytes, values of JSON. */
import * as Effect from "effect/Effect"
import { concat, encode } from "./Bytes.ts"
import * as Tree from "./JsonTree.ts"

/** The result of shrinking. */
export interface Shrunk<A> {
  readonly shortest: A
  /** Number of candidates that were tried. */
  readonly tries: number
}

/** Every list that is this one without one range, the longest ranges first. */
const shorter = function* <A>(items: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let at = 0; at < items.length; at += size) yield items.toSpliced(at, size)
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const linesOf = (input: Uint8Array): ReadonlyArray<string> => {
  try {
    return utf8.decode(input).split("\n")
  } catch {
    return []
  }
}

const zero = Tree.text("0")

const simpler = function* (tree: Tree.JsonTree): Generator<Tree.JsonTree> {
  const count = Tree.size(tree)
  for (let at = 0; at < count; at++) {
    const value = Tree.valueAt(tree, at)
    if (at > 0 && value.kind !== "text") yield value
    if (at > 0 && Tree.print(value) !== "0") yield Tree.updateAt(tree, at, () => zero)
    if (value.kind === "object") {
      for (const members of shorter(value.members)) {
        yield Tree.updateAt(tree, at, () => ({ kind: "object", members }))
      }
    }
    if (value.kind === "array") {
      for (const items of shorter(value.items)) {
        yield Tree.updateAt(tree, at, () => ({ kind: "array", items }))
      }
    }
  }
}

const simplerLines = function* (lines: ReadonlyArray<string>): Generator<Uint8Array> {
  for (const [at, line] of lines.entries()) {
    const tree = Tree.parse(line)
    if (tree === undefined) continue
    for (const smaller of simpler(tree)) {
      yield encode(lines.with(at, Tree.print(smaller)).join("\n"))
    }
  }
}

const candidates = function* (input: Uint8Array): Generator<Uint8Array> {
  const lines = linesOf(input)
  if (lines.length > 1) {
    for (const fewer of shorter(lines)) yield encode(fewer.join("\n"))
  }
  yield* simplerLines(lines)
  for (let size = input.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < input.length; at += size) {
      yield concat(input.subarray(0, at), input.subarray(at + size))
    }
  }
}

/** Replaces the item by its first shorter candidate that fails, until no candidate fails. */
const search = <A>(
  first: A,
  lengthOf: (item: A) => number,
  candidatesOf: (item: A) => Iterable<A>,
  fails: (item: A) => Effect.Effect<boolean>,
  maxTries: number,
): Effect.Effect<Shrunk<A>> =>
  Effect.gen(function* () {
    let shortest = first
    let tries = 0
    let found = true
    while (found && tries < maxTries) {
      found = false
      for (const candidate of candidatesOf(shortest)) {
        if (lengthOf(candidate) >= lengthOf(shortest)) continue
        if (tries++ >= maxTries) break
        if (!(yield* fails(candidate))) continue
        shortest = candidate
        found = true
        break
      }
    }
    return { shortest, tries }
  })

/** The shortest input found that fails. */
export const shrinkBytes = (
  input: Uint8Array,
  fails: (input: Uint8Array) => Effect.Effect<boolean>,
  maxTries = 400,
): Effect.Effect<Shrunk<Uint8Array>> =>
  search(input, ({ length }) => length, candidates, fails, maxTries)

/** The shortest list of inputs found that fails. */
export const shrinkList = <A>(
  items: ReadonlyArray<A>,
  fails: (items: ReadonlyArray<A>) => Effect.Effect<boolean>,
  maxTries = 100,
): Effect.Effect<Shrunk<ReadonlyArray<A>>> =>
  search(items, ({ length }) => length, shorter, fails, maxTries)
