/**
 * Marks functions of a file, so that V8 compiles them with the file and Node's compile cache holds them. V8 takes a function
 * in parentheses for one that is called at once; every other one it compiles at its first call, in each process again.
 *
 * Changes nothing of what the code does:
 *
 *     const f = (a) => a          const f = ((a) => a)
 *     { m(a) { return a } }       { m: (function (a) { return a }) }
 *     function f(a) { return a }  var f = (function (a) { return a });   at the begin of the file, as it is hoisted
 *
 * Methods and constructors of classes, declarations within functions, accessors, and methods that are asynchronous or read
 * `super` have no such form and stay as they are.
 */
import { parseAst } from "rolldown/parseAst"

/** The place of a function in a file, from its first to after its last character, as V8 states it. */
export interface FunctionRange {
  readonly start: number
  readonly end: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** A function with the property whose value it is, if any. */
interface Found {
  readonly node: FunctionNode
  readonly parent: PropertyNode
  /** True for a declaration outside of all functions and blocks. */
  readonly isTop: boolean
}

interface FunctionNode extends Node {
  readonly id?: (Node & { readonly name: string }) | null
  readonly generator?: boolean
  readonly async?: boolean
}

interface PropertyNode extends Node {
  readonly method?: boolean
  readonly kind?: string
  readonly computed?: boolean
  readonly key?: Node
}

/** Replaces the characters from `start` to before `end`. */
interface Edit extends FunctionRange {
  readonly text: string
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

const functionTypes = new Set([
  "ArrowFunctionExpression",
  "FunctionExpression",
  "FunctionDeclaration",
])

const functionsOf = (node: Node, parent: Node, found: Array<Found> = []): ReadonlyArray<Found> => {
  if (functionTypes.has(node.type)) {
    found.push({ node, parent, isTop: parent.type === "Program" })
  }
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) functionsOf(child, node, found)
  }
  return found
}

const isMember = ({ kind, method, type }: PropertyNode): boolean =>
  type === "MethodDefinition" || (type === "Property" && (method === true || kind !== "init"))

/** Only functions that are arrows can end where another one ends. */
const keyOf = ({ end, start }: FunctionRange, isArrow: boolean): string =>
  isArrow ? `${start}:${end}` : `${end}`

const parentheses = ({ end, start }: Node): ReadonlyArray<Edit> => [
  { start, end: start, text: "(" },
  { start: end, end, text: ")" },
]

/** The method of an object as a property; nothing where that would be another function. */
const asProperty = ({ node, parent }: Found, code: string): ReadonlyArray<Edit> => {
  const { key, type } = parent
  const isPlain = type === "Property" && parent.kind === "init" && node.async !== true
  if (!isPlain || key === undefined || code.slice(node.start, node.end).includes("super")) return []
  const name =
    parent.computed === true
      ? `[${code.slice(key.start, key.end)}]`
      : code.slice(key.start, key.end)
  const text = `${name}:(function${node.generator === true ? "*" : ""}`
  return [
    { start: parent.start, end: node.start, text },
    { start: node.end, end: node.end, text: ")" },
  ]
}

/** Closing parentheses come before opening ones at the same place. */
const order = (a: Edit, b: Edit): number =>
  a.start - b.start || Number(b.text === ")") - Number(a.text === ")")

/** The characters of a range with the edits that are within it. */
const edited = (
  code: string,
  edits: ReadonlyArray<Edit>,
  { end, start }: FunctionRange,
): string => {
  let text = ""
  let at = start
  for (const edit of edits) {
    const isBefore = edit.start < start || (edit.start === start && edit.text === ")")
    if (isBefore || edit.end > end || (edit.start === end && edit.text !== ")")) continue
    text += code.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return text + code.slice(at, end)
}

/**
 * The code with these functions marked. `code` is a module in ASCII, whose top-level declarations are assigned once and
 * not called by modules that are evaluated before it. Ranges of no function are ignored: V8 also counts initializers.
 */
export const markEager = (code: string, functions: ReadonlyArray<FunctionRange>): string => {
  const wanted = new Set(functions.flatMap((one) => [keyOf(one, true), keyOf(one, false)]))
  const ast: Node = parseAst(code)
  const chosen = functionsOf(ast, ast).filter(({ node }) =>
    wanted.has(keyOf(node, node.type === "ArrowFunctionExpression")),
  )
  const edits = chosen
    .flatMap((one) => {
      if (isMember(one.parent)) return asProperty(one, code)
      return one.node.type === "FunctionDeclaration" ? [] : parentheses(one.node)
    })
    .toSorted(order)
  let hoisted = ""
  let rest = ""
  let at = 0
  for (const { isTop, node } of chosen) {
    if (!isTop || node.type !== "FunctionDeclaration" || node.id == null) continue
    hoisted += `var ${node.id.name}=(${edited(code, edits, node)});`
    rest += edited(code, edits, { start: at, end: node.start })
    at = node.end
  }
  return hoisted + rest + edited(code, edits, { start: at, end: code.length })
}
