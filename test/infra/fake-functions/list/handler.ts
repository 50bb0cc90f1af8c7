import { worker } from '../worker.ts';

export const handler = worker('list');
