//go:build !linux

package main

func memoryDir(string) string { return "" }
