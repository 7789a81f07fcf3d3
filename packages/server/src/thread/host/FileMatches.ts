/** Files that a search has found, as this dialect writes them. Pure. */
import type { FoundFile } from "@colloquy/protocol/thread/FileSearch"
import type { FoundFile as Found } from "../../app/ports/HostPort.ts"

/** One match. Only files are searched. */
export const matchOf = ({ indices, ...file }: Found): FoundFile => ({
  ...file,
  match_type: "file",
  indices: indices ?? null,
})
