/**
 * Reads the source tree for the structural tests: modules, what they import and export, the strings they hold.
 * A small scanner instead of a parser: TypeScript 7 has no compiler API.
 */

const root = `${import.meta.dirname}/../../..`

/** What of `node:fs` is needed; the live tests bring it. */
export interface Files {
  readonly existsSync: (path: string) => boolean
  readonly readFileSync: (path: string, encoding: "utf8") => string
  readonly readdirSync: (
    path: string,
    options: { readonly recursive: boolean; readonly encoding: "utf8" },
  ) => ReadonlyArray<string>
}

export interface Package {
  /** The folder under `packages`. */
  readonly room: string
  readonly name: string
  /** Not published. */
  readonly private: boolean
  readonly exports: Readonly<Record<string, string | null>>
  readonly dependencies: ReadonlyArray<string>
}

export interface Module {
  readonly room: string
  /** Below the package's folder, with `/`: `src/mcp/CodexMcp.ts`. */
  readonly path: string
  /** From the repository's root. */
  readonly file: string
  readonly source: string
}

export interface Scan {
  /** The source without comments. Strings are kept. */
  readonly code: string
  /** The values of all string literals and of templates without substitutions. */
  readonly strings: ReadonlyArray<string>
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string | null>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface SourceTree {
  /** Whether there is a file at this path from the repository's root. */
  readonly exists: (file: string) => boolean
  readonly packages: ReadonlyArray<Package>
  /** All modules under `src`, in order of their paths. */
  readonly modules: ReadonlyArray<Module>
}

export const read = (files: Files): SourceTree => {
  const exists = (file: string) => files.existsSync(`${root}/${file}`)
  const text = (file: string) => files.readFileSync(`${root}/${file}`, "utf8")
  const list = (folder: string, recursive: boolean) =>
    files.readdirSync(`${root}/${folder}`, { recursive, encoding: "utf8" }).toSorted()

  const packages = list("packages", false)
    .filter((room) => exists(`packages/${room}/package.json`))
    .map((room): Package => {
      const manifest: Manifest = JSON.parse(text(`packages/${room}/package.json`))
      return {
        room,
        name: manifest.name,
        private: manifest.private === true,
        exports: manifest.exports ?? {},
        dependencies: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      }
    })
  const modules = packages
    .filter(({ room }) => exists(`packages/${room}/src`))
    .flatMap(({ room }) =>
      list(`packages/${room}/src`, true)
        .filter((path) => path.endsWith(".ts"))
        .map((path): Module => {
          const file = `packages/${room}/src/${path.replaceAll("\\", "/")}`
          return { room, path: file.slice(`packages/${room}/`.length), file, source: text(file) }
        }),
    )
  return { exists, packages, modules }
}

const unescape = (body: string): string =>
  body.replaceAll(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs,
    (_, a, b, c, d) =>
      typeof d === "string" ? d : String.fromCodePoint(Number.parseInt(String(a ?? b ?? c), 16)),
  )

// In this order: comments, strings, templates up to a substitution, regular expressions where no operand came before.
const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\[\s\S]|\$(?!\{))*)(`|\$\{)|(?<=(?:[(,=:[!&|?{};\n]|=>|\breturn)\s*)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g
const afterSubstitution = /((?:[^`\\$]|\\[\s\S]|\$(?!\{))*)(`|\$\{)/y

export const scan = (source: string): Scan => {
  const strings: Array<string> = []
  let code = ""
  let at = 0
  // Braces opened since each template that is in a substitution now.
  const templates: Array<number> = []
  const plain = (text: string) => {
    code += text
  }
  while (at < source.length) {
    const depth = templates.at(-1)
    const character = source[at]
    if (depth !== undefined && (character === "{" || character === "}")) {
      if (character === "}" && depth === 0) {
        afterSubstitution.lastIndex = at + 1
        const rest = afterSubstitution.exec(source)
        templates.pop()
        if (rest === null) throw new Error("a template without an end")
        if (rest[2] === "${") templates.push(0)
        plain(source.slice(at, afterSubstitution.lastIndex))
        at = afterSubstitution.lastIndex
        continue
      }
      templates[templates.length - 1] = depth + (character === "{" ? 1 : -1)
    }
    token.lastIndex = at
    const match = token.exec(source)
    if (match === null || match.index > at) {
      const stop = match?.index ?? source.length
      // Within a substitution braces count, so only one character at a time.
      const next = templates.length > 0 ? at + 1 : stop
      plain(source.slice(at, next))
      at = next
      continue
    }
    const [text, double, single, template, close] = match
    at += text.length
    if (text.startsWith("//") || text.startsWith("/*")) {
      plain(text.replaceAll(/[^\n]/g, " "))
      continue
    }
    plain(text)
    if (close === "${") templates.push(0)
    const body = double ?? single ?? (close === "`" ? template : undefined)
    if (body !== undefined) strings.push(unescape(body))
  }
  return { code, strings }
}

/** The specifiers of all imports and re-exports, static and dynamic. */
export const imports = (source: string): ReadonlyArray<string> => {
  const { code } = scan(source)
  const patterns = [
    /^[ \t]*(?:import|export)\b[^"';=()]*?\bfrom\s*["']([^"']+)["']/gm,
    /^[ \t]*import\s*["']([^"']+)["']/gm,
    /\bimport\s*\(\s*["'`]([^"'`]+)["'`]/g,
  ]
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ""))
}

/** The names of the values in a list of exports. */
const namesIn = (list: string): ReadonlyArray<string> =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(/\s+as\s+/).at(-1) ?? name)

/** The names of the values a module exports, in order; throws on a form of `export` it does not know. */
export const exportedValues = (source: string): ReadonlyArray<string> => {
  const { code } = scan(source)
  return [...code.matchAll(/^export\b[ \t]*(.*)$/gm)]
    .flatMap((match) => {
      const rest = match[1] ?? ""
      if (/^(?:type|interface|declare)\b/.test(rest)) return []
      const declared =
        /^(?:const|let|async function\*?|function\*?|abstract class|class)\s*([\w$]+)/.exec(rest)
      if (declared?.[1] !== undefined) return [declared[1]]
      const namespace = /^\*\s*as\s+([\w$]+)/.exec(rest)
      if (namespace?.[1] !== undefined) return [namespace[1]]
      const all = /^\*\s*from\s*"([^"]+)"/.exec(rest)
      if (all?.[1] !== undefined) return [`* from ${all[1]}`]
      const list = /^export\s*\{([^}]*)\}/.exec(code.slice(match.index))
      if (list?.[1] !== undefined) return namesIn(list[1])
      throw new Error(`cannot read the export \`${match[0]}\``)
    })
    .toSorted()
}
