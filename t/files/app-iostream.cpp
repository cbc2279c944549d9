// SPDX-License-Identifier: BSD-3-Clause
// 1000 lines by C++ streams, and back.
#include <fstream>
#include <iostream>
#include <string>

int main()
{
	std::string line;
	int n = 0;
	{
		std::ofstream out("cxx");
		for (int i = 0; i < 1000; i++)
			out << "line of sixteen\n";
	}
	std::ifstream in("cxx");
	while (std::getline(in, line))
		n++;
	std::cout << n << std::endl;
	return n != 1000;
}
