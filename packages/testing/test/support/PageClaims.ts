/** Pages that name the tests which prove them: which of the named files and titles do not exist. */

/** What of `node:fs` is needed; the live tests bring it. */
export interface Files {
  readonly readFileSync: (path: string, encoding: "utf8") => string
  readonly globSync: (
    patterns: ReadonlyArray<string>,
    options: { readonly cwd: string },
  ) => ReadonlyArray<string>
}

interface Named {
  /** How many the page names. */
  readonly count: number
  /** Those that do not exist. */
  readonly missing: ReadonlyArray<string>
}

export interface Section {
  readonly heading: string
  readonly text: string
}

export interface PageClaims {
  /** The text of a file, by its path from the root of the repository. */
  readonly read: (path: string) => string
  /** The test files that a page names in code spans. */
  readonly files: (page: string) => Named
  /** The titles that a page quotes, some of which are composed in their tests: the first group of the pattern. */
  readonly titles: (page: string, pattern: RegExp) => Named
  /** The same for pages that quote no composed titles. */
  readonly wholeTitles: (page: string, pattern: RegExp) => Named
}

const root = `${import.meta.dirname}/../../../..`

const firstGroups = (page: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(page.matchAll(pattern), ([, group = ""]) => group)

const named = (all: ReadonlyArray<string>, exists: (name: string) => boolean): Named => ({
  count: all.length,
  missing: all.filter((name) => !exists(name)),
})

/** Of a title that is composed in its test not all words are there together: some three in a row are. */
const isComposedIn = (sources: string, title: string): boolean => {
  const words = title.replace(/^(?:L\d+ )+/, "").split(" ")
  if (words.length < 3) return sources.includes(words.join(" ").replace(/\W+$/, ""))
  return words.some(
    (_, at) => at + 2 < words.length && sources.includes(words.slice(at, at + 3).join(" ")),
  )
}

export const over = ({ globSync, readFileSync }: Files): PageClaims => {
  const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")
  const tests = globSync(["packages/*/{test,compat}/**/*.{test,compat}.ts"], { cwd: root })
  // Titles that several clients share are in modules that are no tests by themselves.
  const shared = globSync(["packages/*/compat/*.ts"], { cwd: root })
  const sources = [...new Set([...tests, ...shared])].map(read).join("\n")
  return {
    read,
    files: (page) =>
      named(firstGroups(page, /`([\w./-]+\.(?:test|compat)\.ts)`/g), (path) =>
        tests.some((test) => test.endsWith(path)),
      ),
    titles: (page, pattern) =>
      named(firstGroups(page, pattern), (title) => isComposedIn(sources, title)),
    wholeTitles: (page, pattern) =>
      named(firstGroups(page, pattern), (title) => sources.includes(`"${title}"`)),
  }
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
