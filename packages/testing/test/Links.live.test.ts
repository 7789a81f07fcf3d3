/** Every link of a page of the repository to a file or a heading of the repository leads somewhere. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../../..")

/** Folders with pages that people read; each holds Markdown files directly. */
const folders = [
  ".",
  ".github",
  "packages/docs",
  "packages/docs/wire",
  "packages/protocol/contract",
  ...Fs.readdirSync(Path.join(root, "packages")).map((name) => `packages/${name}`),
]

const pages = [...new Set(folders)].flatMap((folder) =>
  Fs.readdirSync(Path.join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => Path.join(folder, file)),
)

/** The text without code, in which brackets are no links and `#` starts no heading. */
const proseOf = (text: string): string =>
  text.replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "``")

/** The targets of `[text](target)` and of `[name]: target`, without those of other sites. */
const linksOf = (text: string): ReadonlyArray<string> =>
  [...proseOf(text).matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)]
    .map(([, inline, reference]) => inline ?? reference ?? "")
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))

/** The anchors that GitHub gives to the headings of a page, and those that the page sets itself. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ""] of text
    .replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "")
    .matchAll(/^#{1,6}\s+(.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-")
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  for (const [, id = ""] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

const read = (page: string): string => Fs.readFileSync(Path.join(root, page), "utf8")

/** What is wrong with a link of the page; undefined when it resolves. */
const faultOf = (page: string, target: string): string | undefined => {
  const [path = "", anchor] = target.split("#")
  const file = path === "" ? page : Path.join(Path.dirname(page), decodeURIComponent(path))
  if (!Fs.existsSync(Path.join(root, file))) return `${page}: no file ${target}`
  if (anchor === undefined || !file.endsWith(".md")) return undefined
  return anchorsOf(read(file)).has(anchor) ? undefined : `${page}: no heading ${target}`
}

describe("links", () => {
  it.each(pages)("of %s resolve", (page) => {
    assert.deepStrictEqual(
      linksOf(read(page)).flatMap((target) => faultOf(page, target) ?? []),
      [],
    )
  })

  it("are found in the text and not in code, with the anchors of headings", () => {
    const page = [
      "## The `a` of [b](c.md)!",
      "## The `a` of b",
      '[x](y.md "title") and `[no](no.md)` and [site](https://example.org)',
      "[name]: z.md#top",
      "```md",
      "[no](no.md)",
      "## no",
      "```",
    ].join("\n")
    assert.deepStrictEqual(linksOf(page), ["c.md", "y.md", "z.md#top"])
    assert.deepStrictEqual([...anchorsOf(page)], ["the-a-of-b", "the-a-of-b-1"])
  })

  it("that lead nowhere are faults", () => {
    assert.isDefined(faultOf("README.md", "packages/docs/nowhere.md"))
    assert.isDefined(faultOf("README.md", "#nowhere"))
    assert.isUndefined(faultOf("packages/docs/laws.md", "../../README.md"))
  })
})
