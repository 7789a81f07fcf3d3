/**
 * Finds the line of each key in `config.toml`, for messages. The settings themselves come from the parser of `ConfigTree`;
 * this module is only loaded when a message needs a line.
 */
import { TomlDocument } from "@decimalturn/toml-patch"

type Block = TomlDocument["cst"][number]
type KeyValue = Extract<Block, { readonly equals: number }>

const isKeyValue = (node: object): node is KeyValue => "equals" in node

/** Adds the key and the keys of its value, if that is an inline table. */
const addKey = (lines: Map<string, number>, table: ReadonlyArray<string>, node: KeyValue): void => {
  const path = [...table, ...node.key.value]
  const name = path.join(".")
  if (!lines.has(name)) lines.set(name, node.loc.start.line)
  if (!("items" in node.value)) return
  for (const { item } of node.value.items) {
    if (isKeyValue(item)) addKey(lines, path, item)
  }
}

const addBlock = (lines: Map<string, number>, block: Block): void => {
  if (isKeyValue(block)) return addKey(lines, [], block)
  if (!("items" in block)) return
  const table = block.key.item.value
  const name = table.join(".")
  if (!lines.has(name)) lines.set(name, block.loc.start.line)
  for (const row of block.items) if (isKeyValue(row)) addKey(lines, table, row)
}

/** The blocks of a text; none if this parser rejects a text that the parser of the settings accepts. */
const blocksOf = (text: string): Iterable<Block> => {
  try {
    return [...new TomlDocument(text).cst]
  } catch {
    // A message is complete without a line.
    return []
  }
}

/** The lines of the keys and tables, counted from 1, by dotted path; empty if they cannot be determined. Never throws. */
export const linesOf = (text: string): ReadonlyMap<string, number> => {
  const lines = new Map<string, number>()
  for (const block of blocksOf(text)) addBlock(lines, block)
  return lines
}

/** The line of a key, else the line of the innermost enclosing table that has one. */
export const lineOf = (text: string, key: string): number | undefined => {
  const lines = linesOf(text)
  const path = key.split(".")
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(path.slice(0, length).join("."))
    if (line !== undefined) return line
  }
  return undefined
}
