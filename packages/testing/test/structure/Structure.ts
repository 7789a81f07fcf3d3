/** Measures the structure of the source tree: what a reader new to it has to get through. Pure but for the files it is given. */
import { imports, type Module, type SourceTree } from "../SourceTree.ts"
import { type Declarations, declarationsOf } from "./Declarations.ts"

/** The figures, each with the places that it counts. */
export interface Structure {
  readonly modules: number
  readonly lines: number
  /** Modules directly in each folder, most first. */
  readonly folders: ReadonlyArray<readonly [folder: string, modules: number]>
  /** Definitions that run, of more than 40 lines, longest first. */
  readonly long: ReadonlyArray<readonly [definition: string, lines: number]>
  /** Groups of modules that import each other, types included. */
  readonly circles: ReadonlyArray<ReadonlyArray<string>>
  readonly mutable: ReadonlyArray<string>
  readonly optionalServices: ReadonlyArray<string>
  readonly exported: number
  readonly undocumented: ReadonlyArray<string>
  /** References to documents outside the repository, as `file:line: text`. */
  readonly references: ReadonlyArray<string>
  /** Words of the private language that the glossary replaces, as `file:line: text`. */
  readonly words: ReadonlyArray<string>
}

/** What cites a document that a reader of the repository does not have. */
export const outsideReference =
  /§\s?\d|\bdesign(?:\.md)? §|\b(?:effect4-notes|house-plan|house-style|mcp-complaints|user-demands|perf-notes|exec-notes|mcp-perf|original-behaviour|codex-protocol)\b|\bcomplaints? \d|\(R\d{1,2}\)|\bR\d{2}\b(?=[ ,.;:)])|\bissue \d{1,2}\b/

/** Words that the glossary replaces. */
export const privateWord = /\b(?:told|nobody|stands|heard)\b/gi

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/"))

const places = (
  modules: ReadonlyArray<Module>,
  count: (line: string) => number,
): ReadonlyArray<string> =>
  modules.flatMap(({ file, source }) =>
    source
      .split("\n")
      .flatMap((line, at) =>
        Array.from({ length: count(line) }, () => `${file}:${at + 1}: ${line.trim()}`),
      ),
  )

/** The file that a specifier of a module names; undefined for what is outside the repository. */
const resolve = (
  from: Module,
  specifier: string,
  subpaths: ReadonlyMap<string, string>,
): string | undefined => {
  if (!specifier.startsWith(".")) return subpaths.get(specifier)
  const parts = folderOf(from.file).split("/")
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}

/** Every public specifier of the packages with the file behind it. */
const subpathsOf = ({ packages }: SourceTree): ReadonlyMap<string, string> =>
  new Map(
    packages.flatMap(({ exports, name, room }) =>
      Object.entries(exports).flatMap(([key, target]) =>
        target === null ? [] : [[`${name}${key.slice(1)}`, `packages/${room}${target.slice(1)}`]],
      ),
    ),
  )

/** Strongly connected components of more than one module (Tarjan), in a stable order. */
export const circlesOf = (
  graph: ReadonlyMap<string, ReadonlyArray<string>>,
): ReadonlyArray<ReadonlyArray<string>> => {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: Array<string> = []
  const circles: Array<ReadonlyArray<string>> = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) ?? 0)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0))
      }
    }
    if (low.get(node) !== index.get(node)) return
    const circle = stack.splice(stack.indexOf(node))
    if (circle.length > 1) circles.push(circle.toSorted())
  }
  for (const node of graph.keys()) {
    if (!index.has(node)) visit(node)
  }
  return circles
}

const graphOf = (tree: SourceTree): ReadonlyMap<string, ReadonlyArray<string>> => {
  const subpaths = subpathsOf(tree)
  return new Map(
    tree.modules.map((module) => [
      module.file,
      imports(module.source).flatMap((specifier) => resolve(module, specifier, subpaths) ?? []),
    ]),
  )
}

const counted = (modules: ReadonlyArray<Module>): Structure["folders"] => {
  const counts = new Map<string, number>()
  for (const { file } of modules) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1)
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}

/** Measures a source tree. */
export const structureOf = (tree: SourceTree): Structure => {
  const { modules } = tree
  const read = modules.map((module): readonly [Module, Declarations] => [
    module,
    declarationsOf(module.source),
  ])
  return {
    modules: modules.length,
    lines: modules.reduce((sum, { source }) => sum + source.split("\n").length - 1, 0),
    folders: counted(modules),
    long: read
      .flatMap(([{ file }, { definitions }]) =>
        definitions
          .filter(({ isCode, lines }) => isCode && lines > 40)
          .map(({ lines, name }): readonly [string, number] => [`${file}: ${name}`, lines]),
      )
      .toSorted(([, m], [, n]) => n - m),
    circles: circlesOf(graphOf(tree)),
    mutable: read.flatMap(([{ file }, { mutable }]) => mutable.map((name) => `${file}: ${name}`)),
    optionalServices: places(modules, (line) => line.split("Effect.serviceOption").length - 1),
    exported: read.reduce((sum, [, { exported }]) => sum + exported, 0),
    undocumented: read.flatMap(([{ file }, { undocumented }]) =>
      undocumented.map((name) => `${file}: ${name}`),
    ),
    references: places(modules, (line) => (outsideReference.test(line) ? 1 : 0)),
    words: places(modules, (line) => [...line.matchAll(privateWord)].length),
  }
}
