/**
 * Reads the top-level declarations of a module from its syntax tree: names, lines, docstrings, and what of it could hold
 * state. Reads no types and resolves no imports.
 */
import { parseAst } from "rolldown/parseAst"

type Ast = ReturnType<typeof parseAst>
type Statement = Ast["body"][number]

/** A function, a method, or a constant of a module. */
interface Definition {
  /** `name`, or `Class.member`. */
  readonly name: string
  /** From its first to its last line, both included, without its docstring. */
  readonly lines: number
  /** False for tables of data, such as a schema or a template of text: nothing in them runs. */
  readonly isCode: boolean
}

/** What the checks need to know of one module. */
export interface Declarations {
  readonly definitions: ReadonlyArray<Definition>
  /** Names of exported declarations that no docstring precedes. */
  readonly undocumented: ReadonlyArray<string>
  /** Number of exported declarations. */
  readonly exported: number
  /** Names of module-level variables whose value can change while the process runs. */
  readonly mutable: ReadonlyArray<string>
}

interface Named {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** Classes whose empty instances at module level exist only to be filled later. */
const growing = new Set(["WeakMap", "WeakSet", "Map", "Set", "Array"])

const isNode = (value: unknown): value is Named =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

const children = (node: Named): ReadonlyArray<Named> =>
  Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  )

const functions = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"])

const containsFunction = (node: Named): boolean =>
  functions.has(node.type) || children(node).some(containsFunction)

const unwrapped = (statement: Statement): Statement | Named =>
  statement.type === "ExportNamedDeclaration" && statement.declaration !== null
    ? statement.declaration
    : statement

const isMutableValue = (init: unknown): boolean => {
  if (!isNode(init) || init.type !== "NewExpression") return false
  const { callee, arguments: given } = init as Named & {
    readonly callee: { readonly name?: string }
    readonly arguments: ReadonlyArray<unknown>
  }
  return callee.name !== undefined && growing.has(callee.name) && given.length === 0
}

interface Variable extends Named {
  readonly id: Named & { readonly name?: string }
  readonly init: Named | null
}

interface Member extends Named {
  readonly key: { readonly name?: string; readonly value?: unknown }
  readonly value: Named | null
}

const variablesOf = (node: Named): ReadonlyArray<Variable> =>
  node.type === "VariableDeclaration"
    ? (node as Named & { readonly declarations: ReadonlyArray<Variable> }).declarations
    : []

const nameOf = (node: Named): string =>
  (node as Named & { readonly id?: { readonly name?: string } | null }).id?.name ?? "?"

const membersOf = (node: Named): ReadonlyArray<Member> =>
  node.type === "ClassDeclaration"
    ? (node as Named & { readonly body: { readonly body: ReadonlyArray<Member> } }).body.body
    : []

/** Reads one module; throws when it cannot be parsed. */
export const declarationsOf = (source: string): Declarations => {
  const starts = [0]
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) {
    starts.push(at + 1)
  }
  const lineOf = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
  const linesOf = (node: Named) => lineOf(node.end) - lineOf(node.start) + 1
  const isDocumented = (node: Named): boolean => {
    const before = source
      .slice(0, node.start)
      .replace(/(?:\s*\/\/[^\n]*)+\s*$/, "")
      .trimEnd()
    return (
      before.endsWith("*/") &&
      before.lastIndexOf("/**") > before.lastIndexOf("*/", before.length - 3)
    )
  }

  const definitions: Array<Definition> = []
  const undocumented: Array<string> = []
  const documented = new Set<string>()
  const mutable: Array<string> = []
  let exported = 0
  for (const statement of parseAst(source, { lang: "ts" }).body) {
    const node = unwrapped(statement)
    const variables = variablesOf(node)
    const names = variables.length > 0 ? variables.map(({ id }) => id.name ?? "?") : [nameOf(node)]
    if (node !== statement) {
      exported += names.length
      if (isDocumented(statement)) for (const name of names) documented.add(name)
      else undocumented.push(...names)
    }
    if (node.type === "FunctionDeclaration") {
      definitions.push({ name: nameOf(node), lines: linesOf(node), isCode: true })
    }
    for (const variable of variables) {
      const isLet = (node as Named & { readonly kind?: string }).kind === "let"
      if (isLet || isMutableValue(variable.init)) mutable.push(variable.id.name ?? "?")
      definitions.push({
        name: variable.id.name ?? "?",
        lines: linesOf(variable),
        isCode: variable.init !== null && containsFunction(variable.init),
      })
    }
    for (const member of membersOf(node)) {
      definitions.push({
        name: `${nameOf(node)}.${member.key.name ?? String(member.key.value)}`,
        lines: linesOf(member),
        isCode: member.value !== null && containsFunction(member.value),
      })
    }
  }
  // A value with the name of a documented type is documented by it.
  return {
    definitions,
    undocumented: undocumented.filter((name) => !documented.has(name)),
    exported,
    mutable,
  }
}
