/** Reads AGENTS.md files from this machine's file system. Loaded on first use by `LazyProjectDocs`. */
import * as ProjectDocs from "@colloquy/tools/project/ProjectDocs"
import * as NodePlatform from "./NodePlatform.ts"
import * as Layer from "effect/Layer"

/** Adds the AGENTS.md files to the settings of new conversations. */
export const layer = (options: {
  readonly stateDirectory: string
  readonly hiddenPaths: ReadonlyArray<string>
}) => Layer.provide(ProjectDocs.layer(options), NodePlatform.layer)
