/**
 * JSON as it is written: numbers and strings keep their text, members their order and their repetitions. Parts that
 * `JSON.parse` would round, merge or drop can be changed here and printed again.
 */

/** One JSON value. */
export type JsonTree =
  /** A number, a string, a literal, or any text in place of a value. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "array"; readonly items: ReadonlyArray<JsonTree> }
  | { readonly kind: "object"; readonly members: ReadonlyArray<Member> }

/** One member of an object. */
export interface Member {
  /** As written, with its quotes. */
  readonly key: string
  readonly value: JsonTree
}

const space = /[ \t\r\n]*/y
const scalar = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const string = /"(?:[^"\\]|\\[\s\S])*"/y

/** Deepest nesting that is read; reading and changing a tree is recursive. Deeper texts get mutations of bytes only. */
const maxDepth = 1_000

class Reader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    this.at += found?.length ?? 0
    return found
  }

  private takeSpace(): void {
    this.take(space)
  }

  private skip(char: string): boolean {
    this.takeSpace()
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  /** The items up to the closing bracket; undefined when they are malformed. */
  private list<A>(close: string, item: () => A | undefined): ReadonlyArray<A> | undefined {
    const items: Array<A> = []
    if (this.skip(close)) return items
    do {
      const next = item()
      if (next === undefined) return undefined
      items.push(next)
    } while (this.skip(","))
    return this.skip(close) ? items : undefined
  }

  private member(depth: number): Member | undefined {
    this.takeSpace()
    const key = this.take(string)
    if (key === undefined || !this.skip(":")) return undefined
    const value = this.value(depth)
    return value === undefined ? undefined : { key, value }
  }

  private value(depth: number): JsonTree | undefined {
    if (depth > maxDepth) return undefined
    if (this.skip("{")) {
      const members = this.list("}", () => this.member(depth + 1))
      return members === undefined ? undefined : { kind: "object", members }
    }
    if (this.skip("[")) {
      const items = this.list("]", () => this.value(depth + 1))
      return items === undefined ? undefined : { kind: "array", items }
    }
    const text = this.take(string) ?? this.take(scalar)
    return text === undefined ? undefined : { kind: "text", text }
  }

  whole(): JsonTree | undefined {
    const value = this.value(0)
    this.takeSpace()
    return this.at === this.text.length ? value : undefined
  }
}

/** Reads one JSON text; undefined for a text that is not JSON or nests deeper than 1,000 levels. */
export const parse = (text: string): JsonTree | undefined => new Reader(text).whole()

/** The tree as JSON text, without white space. */
export const print = (tree: JsonTree): string => {
  switch (tree.kind) {
    case "text":
      return tree.text
    case "array":
      return `[${tree.items.map(print).join(",")}]`
    case "object":
      return `{${tree.members.map(({ key, value }) => `${key}:${print(value)}`).join(",")}}`
  }
}

/** The number of values in the tree, itself included. */
export const size = (tree: JsonTree): number => {
  switch (tree.kind) {
    case "text":
      return 1
    case "array":
      return tree.items.reduce((sum, item) => sum + size(item), 1)
    case "object":
      return tree.members.reduce((sum, { value }) => sum + size(value), 1)
  }
}

/** The tree with one value changed. `index` counts values from the root in the order of the text. */
export const updateAt = (
  tree: JsonTree,
  index: number,
  change: (value: JsonTree) => JsonTree,
): JsonTree => {
  let left = index
  const walk = (value: JsonTree): JsonTree => {
    if (left < 0) return value
    if (left-- === 0) return change(value)
    switch (value.kind) {
      case "text":
        return value
      case "array":
        return { kind: "array", items: value.items.map(walk) }
      case "object":
        return {
          kind: "object",
          members: value.members.map((member) => ({ ...member, value: walk(member.value) })),
        }
    }
  }
  return walk(tree)
}

/** The value with that index. */
export const valueAt = (tree: JsonTree, index: number): JsonTree => {
  let found = tree
  updateAt(tree, index, (value) => {
    found = value
    return value
  })
  return found
}

/** A leaf with exactly this text. */
export const text = (written: string): JsonTree => ({ kind: "text", text: written })
