/** The pages of the site: which file each is made of, where it is, and in which order the menu shows them. Pure. */

/** One page. */
export interface Page {
  /** Path of its source, from the root of the repository. */
  readonly source: string
  /** Its path on the site, without an ending. */
  readonly place: string
  /** Its name in the menu. */
  readonly title: string
}

/** Pages under one heading of the menu. */
export interface Section {
  readonly title: string
  readonly pages: ReadonlyArray<Page>
}

const doc = (name: string, title: string): Page => ({
  source: `packages/docs/${name}.md`,
  place: name,
  title,
})

const wire = (name: string, title: string): Page => doc(`wire/${name}`, title)

const contract = (name: string): Page => ({
  source: `packages/protocol/contract/${name}.md`,
  place: `reference/${name}`,
  title: name,
})

const root = (source: string, place: string, title: string): Page => ({ source, place, title })

/** The whole menu. */
export const sections: ReadonlyArray<Section> = [
  {
    title: "Start",
    pages: [
      root("README.md", "index", "Get started"),
      doc("embedding", "Embedding"),
      doc("testing", "Testing"),
      doc("examples", "Examples"),
      doc("migrate", "From codex mcp-server"),
    ],
  },
  {
    title: "Use it",
    pages: [
      doc("clients", "MCP clients"),
      doc("mcp-server", "The MCP server"),
      doc("app-server", "The app-server"),
      doc("http", "HTTP"),
      doc("tools", "Tools and approvals"),
    ],
  },
  {
    title: "Run it",
    pages: [
      doc("configuration", "Configuration"),
      doc("security", "Security"),
      doc("storage", "Stored conversations"),
      doc("observability", "Observability"),
      doc("operations", "Operations"),
    ],
  },
  {
    title: "Compare it",
    pages: [
      doc("compatibility", "Compatibility"),
      doc("conformance", "Conformance"),
      doc("benchmarks", "Benchmarks"),
    ],
  },
  {
    title: "Reference",
    pages: [
      contract("codex-mcp"),
      contract("app-server"),
      doc("events", "Events"),
      doc("configuration-keys", "Configuration keys"),
    ],
  },
  {
    title: "Wire facts",
    pages: [
      { ...wire("README", "Overview"), place: "wire/index" },
      wire("mcp", "MCP"),
      wire("codex-mcp", "codex-mcp"),
      wire("app-server", "app-server"),
      wire("events", "Events"),
      wire("exec", "Commands"),
      wire("config", "Configuration files"),
      wire("providers", "Providers"),
      wire("rollout", "Rollout files"),
    ],
  },
  {
    title: "The project",
    pages: [
      doc("architecture", "Architecture"),
      doc("laws", "Laws"),
      doc("glossary", "Glossary"),
      root(".github/CONTRIBUTING.md", "contributing", "Contributing"),
      root(".github/SECURITY.md", "security-policy", "Reporting a vulnerability"),
      doc("CHANGELOG", "Changes"),
    ],
  },
]

/** All pages, in the order of the menu. */
export const pages: ReadonlyArray<Page> = sections.flatMap((section) => section.pages)
