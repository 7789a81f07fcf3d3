/** JSON texts that decoders often handle wrongly: numbers at every limit, strings of special characters, deep and wide values. */
import type { SeededRandom } from "../SeededRandom.ts"
import { oneOf } from "./Bytes.ts"

/** Numbers at the limits of common number types. */
export const numbers = [
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

/** Special characters, with and without escapes. */
const characters = [
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00"',
  '"\\ud83d\\ude00"',
  '"\\udc00\\ud800"',
  '"\\ufeff"',
  '"\\u2028"',
  '"\\u202e"',
  '"\\u001b[2J"',
  '"\\n"',
  '"\\r\\n"',
  '"é"',
  '"😀"',
  '"\\u0130"',
]

/** Names of built-in members, and literals and numbers as strings. */
const words = [
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"hasOwnProperty"',
  '"then"',
  '"undefined"',
  '"NaN"',
  '"null"',
  '"true"',
  '"0"',
  '"-1"',
  '"1e400"',
  '"9007199254740993"',
]

/** Paths, addresses, templates and patterns. */
const notations = [
  '"/"',
  '"//"',
  '"."',
  '"../.."',
  '"/work/../../etc/passwd"',
  '"file:///etc/passwd"',
  '"data:,"',
  '"%"',
  '"%00"',
  '"%2e%2e%2f"',
  '"{"',
  '"{{x}}"',
  '"$ref"',
  '"#/"',
  '"~"',
  '"(a+)+$"',
  '"[a-z"',
  '"**/*"',
  '"00000000-0000-7000-8000-000000000001"',
]

/** Strings that decoders treat specially, and long ones. The order is part of the seeded sequence. */
export const strings = [
  ...characters,
  ...words,
  ...notations,
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

const depths = [5, 31, 32, 33, 64, 255, 256, 257, 300, 900, 3_000]

const deep = (draws: SeededRandom): string => {
  const depth = oneOf(draws, depths)
  const [open, close] = oneOf(draws, [
    ["[", "]"],
    ['{"a":', "}"],
    ['{"__proto__":', "}"],
    ['[{"items":', "}]"],
  ] as const)
  return `${open.repeat(depth)}0${close.repeat(depth)}`
}

const wide = (draws: SeededRandom): string => {
  const width = oneOf(draws, [17, 129, 600])
  return draws.chance(0.5)
    ? `[${Array.from({ length: width }, () => oneOf(draws, ["0", "{}", '""'])).join(",")}]`
    : `{${Array.from({ length: width }, (_, i) => `"k${i}":0`).join(",")}}`
}

/** Texts that are not JSON, although some parsers accept them. */
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

/** Names of members, with their quotes. */
export const keys = [
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
export const anyValue = (draws: SeededRandom): string => {
  const roll = draws.below(100)
  if (roll < 40) return oneOf(draws, numbers)
  if (roll < 75) return oneOf(draws, strings)
  if (roll < 90) return oneOf(draws, others)
  if (roll < 95) return deep(draws)
  return roll < 98 ? wide(draws) : oneOf(draws, broken)
}
