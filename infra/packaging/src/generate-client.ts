import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

// Makes the types of @terrane/client from the document of the worker: node infra/packaging/src/generate-client.ts [file].
const root = join(import.meta.dirname, '../../..')
const tool = join(root, 'infra/peers/packing/node_modules/.bin/openapi-typescript')
const file = process.argv[2] ?? join(root, 'packages/client/src/worker-api.ts')
execFileSync(tool, [join(root, 'packages/client/openapi/worker.json'), '--output', file], { stdio: 'inherit' })
