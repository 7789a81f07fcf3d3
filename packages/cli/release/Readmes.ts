/** The README of a published package, made from its description and the header comments of its modules. Pure. */
import { repositoryUrl } from "./Manifests.ts"
import type { StagedManifest } from "./Manifests.ts"

/** A public module of a package. */
export interface PublicModule {
  /** What follows the name of the package in an import: `/Conversation`, or nothing. */
  readonly subpath: string
  readonly source: string
}

/** The first sentence of the header comment, or of the first docstring; empty where there is none. */
export const summaryOf = (source: string): string => {
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? ""
  const text = comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*?\s?/, "").trim())
    .join(" ")
    .trim()
  // Modules of ports begin with "Port.", which says nothing about this one.
  return (/^(?:Port\. )?(.*?[.:])(?=\s|$)/.exec(text)?.[1] ?? text)
    .replace(/:$/, ".")
    .replaceAll("|", "\\|")
}

const table = (name: string, modules: ReadonlyArray<PublicModule>): string =>
  [
    "| module | |",
    "| --- | --- |",
    ...modules.map(({ source, subpath }) => `| \`${name}${subpath}\` | ${summaryOf(source)} |`),
  ].join("\n")

const installed = ({ name, peerDependencies }: StagedManifest): string =>
  [
    "npm install",
    name,
    ...Object.entries(peerDependencies ?? {}).map((peer) => peer.join("@")),
  ].join(" ")

/** The text of the README of a package of modules. */
export const readme = (manifest: StagedManifest, modules: ReadonlyArray<PublicModule>): string =>
  [
    `# ${manifest.name}`,
    manifest.description,
    `Part of [Colloquy](${repositoryUrl}#readme), a conversation engine for coding agents on [Effect](https://effect.website) 4.`,
    `\`\`\`sh\n${installed(manifest)}\n\`\`\``,
    ...(Object.keys(manifest.peerDependencies ?? {}).length === 0
      ? []
      : [
          "Effect is a peer dependency: a program must have one copy of it, since two copies do not recognize each other's services.",
        ]),
    ...(modules.length === 0 ? [] : ["## Modules", table(manifest.name, modules)]),
    `[Documentation](${repositoryUrl}/tree/main/packages/docs) · Apache-2.0`,
    "",
  ].join("\n\n")

/** Targets of links and images that are paths of the repository: they have no scheme and are no anchor. */
const relativeTarget = /(!?\[[^\]]*\]\(|\b(?:src|href)=")(?![a-z]+:|#|\/)([^)"\s]+)/g

/** The README of the repository for readers elsewhere: its links and images lead into the repository. */
export const withAbsoluteLinks = (markdown: string): string =>
  markdown.replaceAll(relativeTarget, (_, before: string, path: string) => {
    const isImage = before.startsWith("!") || before.startsWith("src")
    return `${before}${repositoryUrl}/${isImage ? "raw" : "blob"}/main/${path}`
  })
