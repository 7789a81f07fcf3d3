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

const installed = ({ bin, name, peerDependencies }: StagedManifest): string => {
  const peers = Object.entries(peerDependencies ?? {}).map(([peer, range]) => `${peer}@${range}`)
  const more = peers.length === 0 ? "" : ` ${peers.join(" ")}`
  return bin === undefined
    ? `npm install ${name}${more}`
    : `npx ${name} demo          # the program\nnpm install ${name}${more}`
}

/** The text of the README. */
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
