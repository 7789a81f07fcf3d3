/** Mutations of JSON texts that leave them valid or nearly valid JSON: replaced values, repeated, missing or renamed members. */
import type { SeededRandom } from "../SeededRandom.ts"
import { oneOf } from "./Bytes.ts"
import * as Tree from "./JsonTree.ts"
import { anyValue, keys, numbers, strings } from "./JsonValues.ts"

type Change = (value: Tree.JsonTree, draws: SeededRandom, donor: Tree.JsonTree) => Tree.JsonTree

const without = <A>(items: ReadonlyArray<A>, draws: SeededRandom): ReadonlyArray<A> =>
  items.toSpliced(draws.below(Math.max(1, items.length)), 1)

const withItem = <A>(items: ReadonlyArray<A>, item: A, draws: SeededRandom): ReadonlyArray<A> =>
  items.toSpliced(draws.below(items.length + 1), 0, item)

const renamed = (key: string, draws: SeededRandom): string => {
  const name = key.slice(1, -1)
  if (draws.chance(0.6) || name === "") return oneOf(draws, keys)
  return draws.chance(0.5) ? `"${name.slice(0, -1)}"` : `"${name.toUpperCase()}"`
}

const changeMembers = (
  members: ReadonlyArray<Tree.Member>,
  draws: SeededRandom,
  donor: Tree.JsonTree,
): ReadonlyArray<Tree.Member> => {
  const roll = draws.below(6)
  if (roll === 0) return without(members, draws)
  if (roll === 1) {
    return withItem(members, { key: oneOf(draws, keys), value: Tree.text(anyValue(draws)) }, draws)
  }
  if (roll === 2) return withItem(members, { key: oneOf(draws, keys), value: donor }, draws)
  if (members.length === 0) return members
  const at = draws.below(members.length)
  const { key, value } = members[at] ?? { key: '""', value: donor }
  if (roll === 3) return members.with(at, { key: renamed(key, draws), value })
  // A repeated name: most parsers use the last member, some the first.
  const again = roll === 4 ? Tree.text(anyValue(draws)) : value
  return withItem(members, { key, value: again }, draws)
}

const changeItems = (
  items: ReadonlyArray<Tree.JsonTree>,
  draws: SeededRandom,
  donor: Tree.JsonTree,
): ReadonlyArray<Tree.JsonTree> => {
  const roll = draws.below(4)
  if (roll === 0 || items.length === 0) return withItem(items, donor, draws)
  if (roll === 1) return without(items, draws)
  if (roll === 2) return withItem(items, Tree.text(anyValue(draws)), draws)
  return withItem(items, oneOf(draws, items), draws)
}

const replace: Change = (_, draws) => Tree.text(anyValue(draws))
const borrow: Change = (_, __, donor) => donor
const wrap: Change = (value, draws) =>
  draws.chance(0.5)
    ? { kind: "array", items: [value] }
    : { kind: "object", members: [{ key: oneOf(draws, keys), value }] }

/** Changes a value and keeps its kind where possible. */
const adjust: Change = (value, draws, donor) => {
  switch (value.kind) {
    case "object":
      return { kind: "object", members: changeMembers(value.members, draws, donor) }
    case "array":
      return { kind: "array", items: changeItems(value.items, draws, donor) }
    case "text":
      return Tree.text(oneOf(draws, value.text.startsWith('"') ? strings : numbers))
  }
}

const changes: ReadonlyArray<Change> = [replace, replace, adjust, adjust, adjust, borrow, wrap]

/**
 * The tree with one value changed.
 *
 * @param donor another tree, of which a value may be inserted
 */
export const mutateTree = (
  tree: Tree.JsonTree,
  draws: SeededRandom,
  donor: Tree.JsonTree,
): Tree.JsonTree => {
  const part = Tree.valueAt(donor, draws.below(Tree.size(donor)))
  const change = oneOf(draws, changes)
  return Tree.updateAt(tree, draws.below(Tree.size(tree)), (value) => change(value, draws, part))
}

const isNumber = (value: Tree.JsonTree): boolean =>
  value.kind === "text" && /^-?\d/.test(value.text)

/** The tree with all its numbers replaced by one number, so that a limit is reached whichever number the decoder reads. */
const withNumber = (tree: Tree.JsonTree, number: Tree.JsonTree): Tree.JsonTree => {
  switch (tree.kind) {
    case "text":
      return isNumber(tree) ? number : tree
    case "array":
      return { kind: "array", items: tree.items.map((item) => withNumber(item, number)) }
    case "object":
      return {
        kind: "object",
        members: tree.members.map(({ key, value }) => ({ key, value: withNumber(value, number) })),
      }
  }
}

/** One mutation of a JSON text; undefined for a text that is not JSON. */
export const mutateJson = (
  text: string,
  draws: SeededRandom,
  donor: string,
): string | undefined => {
  const tree = Tree.parse(text)
  if (tree === undefined) return undefined
  if (draws.chance(0.15)) return Tree.print(withNumber(tree, Tree.text(oneOf(draws, numbers))))
  return Tree.print(mutateTree(tree, draws, Tree.parse(donor) ?? tree))
}
