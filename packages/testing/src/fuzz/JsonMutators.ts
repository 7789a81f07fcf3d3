/** Mutations of JSON texts that keep them JSON, or nearly: values at every limit, members twice, missing or misnamed. */
import type { Draws } from "../simulation/Draws.ts"
import { oneOf } from "./Bytes.ts"
import * as Tree from "./JsonTree.ts"

const numbers = [
  "0",
  "-0",
  "1",
  "-1",
  "2",
  "1.0",
  "1e2",
  "1E5",
  "0.1",
  "-1.5",
  "5e-324",
  "1e-400",
  "-1e-400",
  "127",
  "128",
  "255",
  "256",
  "65535",
  "65536",
  "2147483647",
  "2147483648",
  "-2147483649",
  "4294967295",
  "4294967296",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740991",
  "-9007199254740993",
  "9.1e15",
  "9.2e18",
  "18446744073709551616",
  "1e15",
  "1e21",
  "1e300",
  "1e308",
  "-1e308",
  "1.7976931348623157e308",
  "1e309",
  "1e400",
  "-1e400",
  "123456789012345678901234567890",
  "0.30000000000000004",
  "-32700",
  "-32603",
  "8640000000000001",
  "9".repeat(40),
  "9".repeat(400),
  `-${"7".repeat(2e3)}`,
  `0.${"3".repeat(500)}`,
  `1e${"9".repeat(20)}`,
]

const strings = [
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud83d\\ude00"',
    '"\\udc00\\ud800"',
  ],
  ...[
    '"\\ufeff"',
    '"\\u2028"',
    '"\\u202e"',
    '"\\u001b[2J"',
    '"\\n"',
    '"\\r\\n"',
    '"é"',
    '"😀"',
    '"\\u0130"',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"toString"',
    '"hasOwnProperty"',
    '"then"',
    '"undefined"',
    '"NaN"',
  ],
  ...[
    '"null"',
    '"true"',
    '"0"',
    '"-1"',
    '"1e400"',
    '"9007199254740993"',
    '"/"',
    '"//"',
    '"."',
    '"../.."',
  ],
  ...[
    '"/work/../../etc/passwd"',
    '"file:///etc/passwd"',
    '"data:,"',
    '"%"',
    '"%00"',
    '"%2e%2e%2f"',
    '"{"',
    '"{{x}}"',
  ],
  ...[
    '"$ref"',
    '"#/"',
    '"~"',
    '"(a+)+$"',
    '"[a-z"',
    '"**/*"',
    '"00000000-0000-7000-8000-000000000001"',
  ],
  ...[300, 1_025, 5_000].map((length) => `"${"a".repeat(length)}"`),
  ...[300, 1_100].map((length) => `"${"\\u0000".repeat(length)}"`),
  `"${"😀".repeat(600)}"`,
]

const others = [
  "null",
  "true",
  "false",
  "{}",
  "[]",
  "[[]]",
  '{"":0}',
  "[null]",
  '{"__proto__":null}',
]

const depths = [5, 31, 32, 33, 64, 255, 256, 257, 300, 1_000, 3_000]

const deep = (draws: Draws): string => {
  const depth = oneOf(draws, depths)
  const [open, close] = oneOf(draws, [
    ["[", "]"],
    ['{"a":', "}"],
    ['{"__proto__":', "}"],
    ['[{"items":', "}]"],
  ] as const)
  return `${open.repeat(depth)}0${close.repeat(depth)}`
}

const wide = (draws: Draws): string => {
  const width = oneOf(draws, [17, 129, 600])
  return draws.chance(0.5)
    ? `[${Array.from({ length: width }, () => oneOf(draws, ["0", "{}", '""'])).join(",")}]`
    : `{${Array.from({ length: width }, (_, i) => `"k${i}":0`).join(",")}}`
}

/** What is no JSON, though some parsers take it. */
const broken = [
  "NaN",
  "Infinity",
  "-Infinity",
  "undefined",
  "+1",
  "01",
  ".5",
  "1.",
  "0x10",
  "'a'",
  "",
  "/**/0",
]

const keys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "length",
  "then",
  "toJSON",
  "",
  "id",
  "method",
  "params",
  "result",
  "error",
  "jsonrpc",
  "_meta",
  "code",
  "message",
  "data",
  "name",
  "arguments",
  "type",
  "requestId",
  "progressToken",
  "task",
  "cursor",
].map((key) => JSON.stringify(key))

/** The text of a value of any kind. */
export const anyValue = (draws: Draws): string => {
  const roll = draws.below(100)
  if (roll < 40) return oneOf(draws, numbers)
  if (roll < 75) return oneOf(draws, strings)
  if (roll < 90) return oneOf(draws, others)
  if (roll < 95) return deep(draws)
  return roll < 98 ? wide(draws) : oneOf(draws, broken)
}

type Change = (value: Tree.JsonTree, draws: Draws, donor: Tree.JsonTree) => Tree.JsonTree

const without = <A>(items: ReadonlyArray<A>, draws: Draws): ReadonlyArray<A> =>
  items.toSpliced(draws.below(Math.max(1, items.length)), 1)

const withItem = <A>(items: ReadonlyArray<A>, item: A, draws: Draws): ReadonlyArray<A> =>
  items.toSpliced(draws.below(items.length + 1), 0, item)

const renamed = (key: string, draws: Draws): string => {
  const name = key.slice(1, -1)
  if (draws.chance(0.6) || name === "") return oneOf(draws, keys)
  return draws.chance(0.5) ? `"${name.slice(0, -1)}"` : `"${name.toUpperCase()}"`
}

const changeMembers = (
  members: ReadonlyArray<Tree.Member>,
  draws: Draws,
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
  // The same name twice: the last one counts for most parsers, the first for some.
  const again = roll === 4 ? Tree.text(anyValue(draws)) : value
  return withItem(members, { key, value: again }, draws)
}

const changeItems = (
  items: ReadonlyArray<Tree.JsonTree>,
  draws: Draws,
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

/** What keeps the kind of the value where it can. */
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
 * @param donor another tree, of which a value may be put in
 */
export const mutateTree = (
  tree: Tree.JsonTree,
  draws: Draws,
  donor: Tree.JsonTree,
): Tree.JsonTree => {
  const part = Tree.valueAt(donor, draws.below(Tree.size(donor)))
  const change = oneOf(draws, changes)
  return Tree.updateAt(tree, draws.below(Tree.size(tree)), (value) => change(value, draws, part))
}

const isNumber = (value: Tree.JsonTree): boolean =>
  value.kind === "text" && /^-?\d/.test(value.text)

/** The tree with one number in place of all its numbers: which of them is read where need not be known. */
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

/** One mutation of a JSON text; undefined for what is no JSON. */
export const mutateJson = (text: string, draws: Draws, donor: string): string | undefined => {
  const tree = Tree.parse(text)
  if (tree === undefined) return undefined
  if (draws.chance(0.15)) return Tree.print(withNumber(tree, Tree.text(oneOf(draws, numbers))))
  return Tree.print(mutateTree(tree, draws, Tree.parse(donor) ?? tree))
}
