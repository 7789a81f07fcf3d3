/** Pages that name the tests which prove them: which of the named files and titles do not exist. */
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../../../..")

const tests = Fs.globSync("packages/*/{test,compat}/**/*.{test,compat}.ts", { cwd: root })

/** Titles that several files share are in modules that are no tests by themselves. */
const shared = Fs.globSync("packages/*/compat/*.ts", { cwd: root })

const sources = [...new Set([...tests, ...shared])]
  .map((path) => Fs.readFileSync(Path.join(root, path), "utf8"))
  .join("\n")

export const read = (path: string): string => Fs.readFileSync(Path.join(root, path), "utf8")

/** A title may be composed in its test, so that not all of its words are there together: some three in a row are. */
const isInSources = (title: string): boolean => {
  const words = title.replace(/^(?:L\d+ )+/, "").split(" ")
  if (words.length < 3) return sources.includes(words.join(" ").replace(/\W+$/, ""))
  return words.some(
    (_, at) => at + 2 < words.length && sources.includes(words.slice(at, at + 3).join(" ")),
  )
}

export interface Named {
  /** How many the page names. */
  readonly count: number
  /** Those that do not exist. */
  readonly missing: ReadonlyArray<string>
}

const named = (all: ReadonlyArray<string>, exists: (name: string) => boolean): Named => ({
  count: all.length,
  missing: all.filter((name) => !exists(name)),
})

/** The test files that a page names in code spans. */
export const files = (page: string): Named => {
  const paths = page.matchAll(/`([\w./-]+\.(?:test|compat)\.ts)`/g)
  return named(
    Array.from(paths, ([, path = ""]) => path),
    (path) => tests.some((test) => test.endsWith(path)),
  )
}

const quoted = (page: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(page.matchAll(pattern), ([, title = ""]) => title)

/** The titles that a page quotes: the first group of the pattern. */
export const titles = (page: string, pattern: RegExp): Named =>
  named(quoted(page, pattern), isInSources)

/** The same for pages that quote no composed titles. */
export const wholeTitles = (page: string, pattern: RegExp): Named =>
  named(quoted(page, pattern), (title) => sources.includes(`"${title}"`))

export interface Section {
  readonly heading: string
  readonly text: string
}

/** The parts of a page, at the first two levels below its title. */
export const sections = (page: string): ReadonlyArray<Section> =>
  page
    .split(/^#{2,3} /m)
    .slice(1)
    .map((part) => {
      const [heading = "", ...lines] = part.split("\n")
      return { heading, text: lines.join("\n").trim() }
    })
