import { execFile } from 'node:child_process'
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { bundleBrowser } from './bundle-browser.ts'
import { bundleThread, withTexts, withThreads } from './bundle-thread.ts'

// Builds the package of the working directory for npm, into `dist`: its `prepack` script. Within the repository nothing
// is built; the output exists in tarballs only. tsc makes the JavaScript and the declarations. Then files that a module
// finds by `new URL('./file', import.meta.url)` are included in the module, because bundlers for Node do not follow
// such URLs: a text as a string, a worker thread as its whole program.
const folder = process.cwd()
const dist = join(folder, 'dist')

await rm(dist, { recursive: true, force: true })
await compile()
for await (const file of glob('**/*.d.ts', { cwd: dist })) {
  await edit(join(dist, file), (text) => withJsSpecifiers(text).replaceAll("'../openapi/", "'./openapi/"))
}
for await (const file of glob('**/*.d.ts', { cwd: join(folder, 'src') })) {
  await cp(join(folder, 'src', file), join(dist, file))
}
for await (const file of glob('**/*.browser.{js,d.ts}', { cwd: dist })) await rm(join(dist, file))
for await (const file of glob('**/languages/files.js', { cwd: dist })) await importJson(file)
for await (const file of glob('**/*.js', { cwd: dist })) await makeWhole(file)
for await (const file of glob('**/browser.js', { cwd: dist })) {
  // Programs for rendering on a server import the same path.
  await rename(join(dist, file), join(dist, file.replace(/\.js$/, '.node.js')))
  await bundleBrowser(resolve(folder, 'src', file.replace(/\.js$/, '.ts')), dirname(join(dist, file)))
}

async function compile(): Promise<void> {
  const config = join(dist, 'tsconfig.json')
  // Imported packages are sources too and are compiled as well. Only the package's own output is kept.
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: '../..',
    outDir: 'all',
  }
  const program = {
    extends: '../tsconfig.json',
    compilerOptions,
    include: ['../src'],
    exclude: ['../src/**/*.test.ts', '../src/testing/**'],
  }
  await mkdir(dist, { recursive: true })
  await writeFile(config, JSON.stringify(program))
  await promisify(execFile)(join(import.meta.dirname, '../../../node_modules/.bin/tsc'), ['-p', config]).catch(
    (error: { stdout: string }) => {
      throw new Error(`the package does not compile:\n${error.stdout}`)
    },
  )
  await rm(config)
  const output = join(dist, 'all', basename(folder))
  await cp(join(output, 'src'), dist, { recursive: true })
  // Types that are generated from a document are beside the sources.
  for await (const file of glob('openapi/*.d.ts', { cwd: output })) await cp(join(output, file), join(dist, file))
  await rm(join(dist, 'all'), { recursive: true })
}

/** Declarations keep the `.ts` of their imports, which a consumer's compiler accepts only with a special option. */
function withJsSpecifiers(declarations: string): string {
  return declarations.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2')
}

/** Replaces a module of the JSON files of its folder by one that imports them, which a bundler follows. */
async function importJson(file: string): Promise<void> {
  const path = join(dist, file)
  const source = resolve(folder, 'src', dirname(file))
  const names = (await Array.fromAsync(glob('*.json', { cwd: source }))).toSorted()
  for (const name of names) {
    await writeFile(join(dirname(path), `${name}.js`), `export default ${await readFile(join(source, name), 'utf8')}`)
  }
  const imports = names.map((name, i) => `import _${i} from './${name}.js'\n`).join('')
  await writeFile(path, `${imports}export const FILES = [${names.map((_, i) => `_${i}`).join(', ')}]\n`)
}

/** Replaces the URLs in a module by the content of their files. */
async function makeWhole(file: string): Promise<void> {
  const path = join(dist, file)
  const source = resolve(folder, 'src', file)
  const { text: code, assets } = withTexts(await readFile(path, 'utf8'), '.js')
  for (const asset of assets) {
    const content = await readFile(resolve(dirname(source), asset), 'utf8')
    await writeFile(resolve(dirname(path), `${asset}.js`), `export default ${JSON.stringify(content)}\n`)
  }
  const { code: whole, names } = withThreads(code, 'import.meta.url')
  for (const name of names) {
    const bundle = await bundleThread(resolve(dirname(source), `${name}.ts`))
    await writeFile(resolve(dirname(path), `${name}.inline.js`), bundle)
  }
  const left = /new URL\([^)]*import\.meta\.url\)/.exec(whole)
  if (left !== null) throw new Error(`${file}: ${left[0]} would be missing from a bundle`)
  await writeFile(path, whole)
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')))
}
