/** Links of a page as the site needs them. Pure. */
import { posix } from "node:path"
import { pages } from "./Pages.ts"

const places = new Map(pages.map(({ place, source }) => [source, place]))

/** Inline links, whose text may be code, images, and definitions of references. */
const targets =
  /(!\[[^\]]*\]\(|\]\(|^\[[^\]]+\]:\s*|\b(?:src|href)=")(?![a-z][a-z+.-]*:|#|\/)([^)"\s]+)/gim

/** Everything that is no prose: code blocks and code. */
const code = /(^(`{3,})[^]*?^\2|`[^`\n]*`)/gm

/**
 * The text with links to other pages of the site, to files that `asset` takes in, and otherwise to the repository.
 *
 * @param source path of the page from the root of the repository
 * @param asset takes in a file of the repository, such as an image; returns its place on the site, from its root
 * @param repositoryUrl address under which `/blob/main/PATH` shows a file
 */
export const withSiteLinks = (
  text: string,
  source: string,
  asset: (path: string) => string,
  repositoryUrl: string,
): string => {
  const linked = (prose: string): string =>
    prose.replaceAll(targets, (_, before: string, target: string) => {
      const [path = "", anchor] = target.split("#")
      const file = posix.normalize(posix.join(posix.dirname(source), path))
      const place = places.get(file)
      const suffix = anchor === undefined ? "" : `#${anchor}`
      if (place !== undefined) return `${before}/${place === "index" ? "" : place}${suffix}`
      const isImage = before.startsWith("!") || before.startsWith("src")
      return `${before}${isImage ? asset(file) : `${repositoryUrl}/blob/main/${file}${suffix}`}`
    })
  let result = ""
  let end = 0
  for (const match of text.matchAll(code)) {
    result += linked(text.slice(end, match.index)) + match[0]
    end = match.index + match[0].length
  }
  return result + linked(text.slice(end))
}
