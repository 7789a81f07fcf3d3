/** AGENTS.md files over the files of this machine. */
import * as ProjectDocs from "@colloquy/tools/project/ProjectDocs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Layer from "effect/Layer"

export const layer = (options: {
  readonly stateDirectory: string
  readonly hiddenPaths: ReadonlyArray<string>
}) => Layer.provide(ProjectDocs.layer(options), NodeServices.layer)
