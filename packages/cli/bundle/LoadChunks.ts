/**
 * How a bundle loads its files: each dynamic import names all files that it needs, and each file is loaded by itself, so
 * that some of them can be compiled as a whole.
 */
import type { OutputBundle, Plugin } from "rolldown"

/**
 * The chunks of which a first conversation runs most functions. They are compiled as a whole: the compile cache of Node
 * holds the functions that were compiled when the file was loaded, and every other one is compiled by its first call, which
 * takes a quarter of the time until the first answer.
 */
const compiledWhole: ReadonlySet<string> = new Set(["serve", "conversations", "turn"])

const setFlag = (flag: string) =>
  `process.getBuiltinModule("node:v8").setFlagsFromString("${flag}");`

/**
 * What a chunk with dynamic imports begins with: loads files and resolves to the last one. The flag is also reset where a
 * file cannot be compiled, and not set without a cache, where it would cost time at each start.
 */
const loaders = `const loadFiles=async(...files)=>{const of=process.getBuiltinModule,{createRequire,getCompileCacheDir}=of("node:module"),load=createRequire(import.meta.url);let last;for(const file of files){if(/^\\.\\/(?:others-)?(${[...compiledWhole].join("|")})-/.test(file)&&getCompileCacheDir?.()){const set=of("node:v8").setFlagsFromString;set("--no-lazy");try{last=load(file)}finally{set("--lazy")}}else last=load(file)}return last};`

const dynamicImport = /\bimport\((["`'])\.\/([\w.-]+)\1\)/g

/** The files that a file imports statically, and the file, each after those that it imports. */
export const filesOf = (
  file: string,
  bundle: OutputBundle,
  order = new Set<string>(),
): ReadonlySet<string> => {
  const chunk = bundle[file]
  if (chunk?.type !== "chunk" || order.has(file)) return order
  for (const imported of chunk.imports) filesOf(imported, bundle, order)
  return order.add(file)
}

/**
 * Loads chunks without an interruption, so that no other file is compiled while the flag for one is set, and each file by
 * itself: V8 rejects a cached file that was compiled with other flags. The flag is reset before a chunk is evaluated,
 * because that loads modules of Node, whose cached code was compiled without it. A chunk that is there already is bound
 * instead: to load it again would read its file once more.
 */
export const loadChunks: Plugin = {
  name: "load-chunks",
  generateBundle: (_options, bundle) => {
    const isWhole = (file: string): boolean => compiledWhole.has(bundle[file]?.name ?? "")
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      const loaded = filesOf(chunk.fileName, bundle)
      const bound = new Map<string, string>()
      const bind = (file: string): string => {
        const name = bound.get(file) ?? `loaded$${bound.size}`
        bound.set(file, name)
        return `Promise.resolve(${name})`
      }
      const code = chunk.code.replace(dynamicImport, (match, _quote, file: string) => {
        if (!(file in bundle)) return match
        if (loaded.has(file)) return bind(file)
        const needed = [...filesOf(file, bundle)].filter((one) => !loaded.has(one))
        return `loadFiles(${needed.map((one) => `"./${one}"`).join(",")})`
      })
      const begin = [...bound].map(([file, name]) => `import*as ${name} from"./${file}";`).join("")
      chunk.code =
        (isWhole(chunk.fileName) ? setFlag("--lazy") : "") +
        begin +
        (code.includes("loadFiles(") ? loaders : "") +
        code
    }
  },
}
