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

/** The whole menu. The README lists its pages in the same order. */
export const sections: ReadonlyArray<Section> = [
  {
    title: "Start",
    pages: [root("README.md", "index", "Overview"), doc("get-started", "Get started")],
  },
  {
    title: "Use it",
    pages: [
      doc("embedding", "Embedding"),
      doc("examples", "Examples"),
      doc("clients", "MCP clients"),
      doc("mcp-server", "The MCP server"),
      doc("app-server", "The app-server"),
      doc("http", "HTTP"),
      doc("terminal", "In the terminal"),
      doc("exec", "One turn from a script"),
      doc("testing", "Testing"),
    ],
  },
  {
    title: "Run it",
    pages: [
      doc("security", "Security"),
      doc("tools", "Tools and approvals"),
      doc("operations", "Operations"),
      doc("observability", "Observability"),
      doc("storage", "Stored conversations"),
      doc("store-sql", "Conversations in a database"),
      doc("scale-out", "Several servers"),
      doc("configuration", "Configuration"),
    ],
  },
  {
    title: "Reference",
    pages: [
      doc("configuration-keys", "Configuration keys"),
      contract("codex-mcp"),
      contract("app-server"),
      contract("app-server-v2"),
      doc("events", "Events"),
    ],
  },
  {
    title: "Compare it",
    pages: [
      doc("migrate", "From codex mcp-server"),
      doc("compatibility", "Differences from the original"),
      doc("conformance", "Conformance"),
      doc("benchmarks", "Benchmarks"),
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
  {
    title: "Wire facts",
    pages: [
      { ...wire("README", "Overview"), place: "wire/index" },
      wire("mcp", "MCP"),
      wire("codex-mcp", "codex-mcp"),
      wire("app-server", "app-server"),
      wire("app-server-v2", "app-server, version 2"),
      wire("events", "Events"),
      wire("exec", "Commands"),
      wire("config", "Configuration files"),
      wire("providers", "Providers"),
      wire("rollout", "Rollout files"),
    ],
  },
]

/** All pages, in the order of the menu. */
export const pages: ReadonlyArray<Page> = sections.flatMap((section) => section.pages)
