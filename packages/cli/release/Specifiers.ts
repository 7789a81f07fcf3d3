/** Finds and replaces the module specifiers of a compiled module or of its declarations. */
import { parseAst } from "rolldown/parseAst"

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly value?: unknown
  readonly source?: Node | null
  readonly argument?: Node
  readonly literal?: Node
}

/** One specifier and where its literal is in the text, quotes included. */
interface Found {
  readonly specifier: string
  readonly start: number
  readonly end: number
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
])

const literalOf = ({ argument, literal, source }: Node): Node | undefined => {
  const node = source ?? argument ?? literal
  return node?.type === "TSLiteralType" ? node.literal : node
}

const collect = (value: unknown, into: Array<Found>): void => {
  if (Array.isArray(value)) {
    for (const one of value) collect(one, into)
    return
  }
  if (!isNode(value)) return
  if (importing.has(value.type)) {
    const literal = literalOf(value)
    if (typeof literal?.value === "string") {
      into.push({ specifier: literal.value, start: literal.start, end: literal.end })
    }
  }
  for (const child of Object.values(value)) collect(child, into)
}

const find = (source: string, file: string): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  collect(parseAst(source, { lang: file.endsWith(".d.ts") ? "dts" : "js" }).body, found)
  return found.toSorted((a, b) => a.start - b.start)
}

/** The specifiers of all static and dynamic imports, re-exports and import types, in order. */
export const specifiersOf = (source: string, file: string): ReadonlyArray<string> =>
  find(source, file).map(({ specifier }) => specifier)

/** The text with every specifier replaced by what `replace` returns for it. */
export const withSpecifiers = (
  source: string,
  file: string,
  replace: (specifier: string) => string,
): string => {
  let text = ""
  let at = 0
  for (const { end, specifier, start } of find(source, file)) {
    text += `${source.slice(at, start)}${JSON.stringify(replace(specifier))}`
    at = end
  }
  return text + source.slice(at)
}
