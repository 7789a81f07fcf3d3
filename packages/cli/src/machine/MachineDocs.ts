/** Reads AGENTS.md files and skills from this machine's file system. Loaded on first use by `LazyProjectDocs`. */
import { SkillPort } from "@colloquy/server/thread/host/ports/SkillPort"
import * as ProjectDocs from "@colloquy/tools/project/ProjectDocs"
import * as Skills from "@colloquy/tools/project/Skills"
import * as NodePlatform from "./NodePlatform.ts"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"

interface DocsOptions {
  readonly stateDirectory: string
  readonly hiddenPaths: ReadonlyArray<string>
}

/** Adds the AGENTS.md files and the offer of skills to the settings of new conversations. */
export const layer = (options: DocsOptions) =>
  Skills.layer(options).pipe(
    Layer.provide(ProjectDocs.layer(options)),
    Layer.provide(NodePlatform.layer),
  )

/** The skills for the lists of clients. */
export const skills = (options: DocsOptions): Layer.Layer<never> =>
  Layer.effect(
    SkillPort,
    Effect.gen(function* () {
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const { folders, list } = yield* Skills.make(options)
      return {
        folders: (cwd) => Effect.provideContext(folders(cwd), services),
        list: (cwd) =>
          list(cwd).pipe(
            Effect.map(({ errors, skills: found }) => ({
              errors,
              skills: found.map(({ description, name, path, scope }) => ({
                name,
                description,
                path,
                scope,
              })),
            })),
            Effect.provideContext(services),
          ),
      }
    }),
  ).pipe(Layer.provide(NodePlatform.layer))
