import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from '@terrane/service'
import { pageMissing } from '../errors.ts'
import { FINGERPRINT_FILE, pageFingerprint } from './fingerprint.ts'

const CONSOLE = fileURLToPath(new URL('../../', import.meta.url))
const BUILD_TIMEOUT_MS = 120_000

/**
 * The folder of the built page: the named one, else the console's own, which is built first when it is missing or older
 * than its sources. Without build tools, an old page is served unchanged.
 *
 * @throws PAGE_MISSING
 */
export async function preparePage(named: string | undefined, logger: Logger): Promise<string> {
  if (named !== undefined) {
    if (!existsSync(join(named, 'index.html'))) throw pageMissing({ reason: `there is no index.html in ${named}` })
    return named
  }
  const folder = join(CONSOLE, 'dist')
  const built = await readFile(join(folder, FINGERPRINT_FILE), 'utf8').catch(() => null)
  // A production image contains the page without its sources.
  if (built !== null && !existsSync(join(CONSOLE, 'web'))) return folder
  if (built === (await pageFingerprint(CONSOLE).catch(() => null))) return folder
  const tool = buildTool()
  if (tool === null) {
    if (built === null) throw pageMissing({ reason: 'the tools to build it are not installed' })
    logger.warn('the page is older than its sources and cannot be built here')
    return folder
  }
  logger.info('building the page')
  const started = performance.now()
  await build(tool, folder)
  logger.info({ seconds: Math.round((performance.now() - started) / 100) / 10 }, 'built the page')
  return folder
}

/** Builds beside the folder and then moves the result in, because another console may be serving the old page. */
async function build(tool: string, folder: string): Promise<void> {
  const fresh = join(CONSOLE, 'node_modules', `.page-${process.pid}`)
  const old = `${fresh}-old`
  const args = [tool, 'build', '--logLevel', 'warn', '--outDir', fresh, '--emptyOutDir']
  try {
    await promisify(execFile)(process.execPath, args, { cwd: CONSOLE, timeout: BUILD_TIMEOUT_MS })
    await rename(folder, old).catch(() => {})
    await rename(fresh, folder)
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string }
    throw pageMissing({ reason: (stderr || message).trim().slice(0, 2000) }, { cause })
  } finally {
    for (const left of [fresh, old]) await rm(left, { recursive: true, force: true })
  }
}

/** The build tool's program, or null where only runtime packages are installed. */
function buildTool(): string | null {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve('vite/package.json'))), 'bin', 'vite.js')
  } catch {
    return null
  }
}
