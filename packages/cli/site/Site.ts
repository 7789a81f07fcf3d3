/**
 * Builds the static site of the pages into `.release/site/dist`. The generator is VitePress, installed there in a fixed
 * version: it is no dependency of the repository, because only who publishes the site needs its packages.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { repositoryUrl } from "../release/Manifests.ts"
import { runProgram } from "../release/RunProgram.ts"
import { releaseFolder, root } from "../release/Workspace.ts"
import { withSiteLinks } from "./Links.ts"
import { pages, sections } from "./Pages.ts"

const generator = "vitepress@1.6.4"

/** The site was not built; the message is what the generator printed. */
export class SiteError extends Error {}

const linkOf = (place: string): string => (place === "index" ? "/" : `/${place}`)

/** Settings of the generator; the search has its index in the site. */
const config = {
  title: "Colloquy",
  description: "A conversation engine for coding agents",
  cleanUrls: true,
  lastUpdated: false,
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: sections.map(({ pages: of, title }) => ({
      text: title,
      items: of.map((page) => ({ text: page.title, link: linkOf(page.place) })),
    })),
  },
}

const stylesheet = `:root {
  --vp-font-family-base: system-ui, sans-serif;
  --vp-font-family-mono: ui-monospace, monospace;
  --vp-layout-max-width: 1600px;
  --vp-code-font-size: 0.8em;
}
.VPDoc.has-aside .content-container { max-width: 54rem !important; }
.vp-doc table { display: table; width: 100%; overflow-wrap: anywhere; }
.vp-doc td code, .vp-doc th code { white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .vp-doc table { display: block; overflow-x: auto; }
  .vp-doc td, .vp-doc th { min-width: 8rem; }
}
`

/** The theme without its fonts, which would be files of another project; the system's are as good. */
const theme = `import Theme from "vitepress/theme-without-fonts"
import "./style.css"
export default Theme
`

const write = (folder: string, name: string, text: string): void => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const stagePages = (folder: string): void => {
  const asset = (path: string): string => {
    const to = join(folder, "public/assets-of-pages", basename(path))
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(root, path), to)
    return `/assets-of-pages/${basename(path)}`
  }
  for (const { place, source } of pages) {
    const text = readFileSync(join(root, source), "utf8")
    write(folder, `${place}.md`, withSiteLinks(text, source, asset, repositoryUrl))
  }
}

const succeed = async (folder: string, command: string, ...args: ReadonlyArray<string>) => {
  const { code, output } = await runProgram(command, args, folder)
  if (code !== 0) throw new SiteError(`${command} ${args.join(" ")}\n${output}`)
}

/** Resolves with the folder of the site. Rejects with a `SiteError`. */
export const buildSite = async (folder = join(releaseFolder, "site")): Promise<string> => {
  for (const name of ["pages", "dist"]) rmSync(join(folder, name), { recursive: true, force: true })
  const site = join(folder, "pages")
  write(folder, "package.json", '{ "private": true, "type": "module" }\n')
  // The generator would read that of the repository.
  write(folder, "tsconfig.json", "{}\n")
  await succeed(folder, "npm", "install", "--no-audit", "--no-fund", "--save-exact", generator)
  stagePages(site)
  write(
    site,
    ".vitepress/config.mjs",
    `export default ${JSON.stringify({ ...config, outDir: join(folder, "dist") }, null, 2)}\n`,
  )
  write(site, ".vitepress/theme/index.mjs", theme)
  write(site, ".vitepress/theme/style.css", stylesheet)
  await succeed(folder, join(folder, "node_modules/.bin/vitepress"), "build", "pages")
  return join(folder, "dist")
}
