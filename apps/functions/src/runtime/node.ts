import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { confine } from './confine.ts'
import { BUNDLE, GATEWAY, INGRESS, SOCKETS, type Runtime } from './runtime.ts'

export interface NodeMachine {
  readonly node: string
  readonly shim: string
  readonly tmp: string
  readonly baseKib: number
  readonly setpriv: string | null
}

/**
 * Node with its permission model, for trusted code on machines without a Deno binary. It denies files, child processes
 * and native addons; it does not deny the network, and by its documentation it gives no protection against malicious
 * code.
 */
export function nodeRuntime(machine: NodeMachine): Runtime {
  return {
    name: 'node',
    profile: 'trusted',
    caveat: 'hostile code: functions reach the network and other processes of the user; for trusted code only',
    command(launch) {
      const command = [
        machine.node,
        '--permission',
        ...[machine.shim, machine.tmp, launch.codeDir].map((path) => `--allow-fs-read=${path}`),
        '--no-addons',
        '--enable-source-maps',
        // SQLite opens files without a check of the permission model.
        '--no-experimental-sqlite',
        '--disable-proto=delete',
        `--max-old-space-size=${Math.floor(launch.memoryMb * 0.75)}`,
        // The limit of the old space would also shrink the young generation, which makes allocating code six times
        // slower.
        '--max-semi-space-size=32',
        machine.shim,
      ]
      const [file, ...args] = confine(command, {
        dataKib: machine.baseKib + launch.memoryMb * 1024,
        fileBlocks: 0,
        openFiles: 512,
        setpriv: machine.setpriv,
        uid: launch.uid,
      })
      return {
        file,
        args,
        env: { NO_COLOR: '1', NODE_NO_WARNINGS: '1' },
        cwd: launch.codeDir,
        bundle: pathToFileURL(join(launch.codeDir, BUNDLE)).href,
        ingress: join(launch.runDir, INGRESS),
        gateway: join(launch.runDir, GATEWAY),
        sockets: join(launch.runDir, SOCKETS),
        tmp: pathToFileURL(machine.tmp).href,
        keeper: null,
      }
    },
  }
}
